"""A person writes the agent's next actions for a while, and hands back."""
