"""Roll-outs: many short sessions of a policy in one process."""
