"""Choose, preview, write and train."""
