"""Generated tasks: four phases by an author, gates after each, in real containers."""
