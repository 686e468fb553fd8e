"""Opening trajectories of other programs."""
