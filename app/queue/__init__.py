"""The sessions of a review queue, or of a filter, in columns: how far each is, and who has it."""
