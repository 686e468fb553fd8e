"""Score, tokens, cost and time as curves."""
