"""The list of steps: folds, filters, find, outline, minimap, digest."""
