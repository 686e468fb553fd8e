"""Verdicts on steps: keys, book with undo, rules, opinions of others."""
