"""A run of reinforcement learning: its curves, the group of a task side by side, what is worth a look."""
