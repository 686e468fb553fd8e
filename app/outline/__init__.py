"""The outline of a session: its phases, what stands out in them, and the plan."""
