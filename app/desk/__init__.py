"""What a panel is given: the replica as Qt signals, the cursor, settings, actions, notices, worker processes."""
