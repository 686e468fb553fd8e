"""What every view is made of: theme, languages, safe text, small widgets. Knows no session."""
