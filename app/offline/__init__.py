"""Copies of sessions: stored offline, put into archives, removed with the session or without it."""
