"""One module per foreign format, and the modules that only one of them uses."""
