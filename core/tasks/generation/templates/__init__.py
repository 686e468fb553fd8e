"""Chores of which the author of templates makes tasks, by what they are about."""
