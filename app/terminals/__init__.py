"""The terminals of a session, drawn as terminals, at any step."""
