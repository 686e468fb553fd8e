"""What a session plays in: hosts, games, other people's environments, by one small protocol."""
