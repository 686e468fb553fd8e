"""What needs a person's look, in a list and as messages of the desktop."""
