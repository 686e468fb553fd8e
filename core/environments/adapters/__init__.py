"""The kinds of environments: one module each, which declares its `ENVIRONMENT`."""
