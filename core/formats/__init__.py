"""Foreign trajectory files: what the readers share, and the registry that finds them and recognises files."""
