"""One step: thought, actions, observations, and the eye that opens its context."""
