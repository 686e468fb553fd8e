"""Find in all sessions of all servers."""
