"""Queries, results and pages visited."""
