"""The list of sessions: filters, controls, new sessions, thresholds."""
