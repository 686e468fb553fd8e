"""The files of a session: versions and their differences."""
