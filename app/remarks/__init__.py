"""Remarks of readers on steps and on words of them, and the page that shows them to others."""
