"""The dialects in which agents speak to models, by name; a dialect is one module."""
