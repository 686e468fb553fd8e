"""What a session offers to an agent that is not ours: an endpoint, its dialects, lines, and places for guidance."""
