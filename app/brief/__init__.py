"""The chosen session of a queue in brief, and the one button that goes on with it."""
