"""What a person sees: the desktop client. `python -m app` starts it."""

from app.kit import overrides

overrides.guard_all()
