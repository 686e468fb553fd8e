"""One module per format, with its declaration `FORMAT`, and the modules that only one of them uses.

A new format is a new module here; `tests/core/formats/test_no_format_is_forgotten.py` names what it still lacks.
"""
