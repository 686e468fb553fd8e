"""Generated tasks: what a person sees of each draft, and decides."""
