"""One module per layout of task folders; each declares a `READER`."""
