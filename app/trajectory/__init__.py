"""The list of steps: folds, filters, find, minimap, digest."""
