"""Sessions stored offline: fetched whole, to be reviewed without a network."""
