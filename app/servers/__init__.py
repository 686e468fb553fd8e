"""The servers that this person works with."""
