"""What the desktop and the server ask of worker processes, and what these answer: the same types at both ends."""
