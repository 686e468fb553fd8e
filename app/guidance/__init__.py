"""Advice to a working agent: the box, the queue, templates, what came of it."""
