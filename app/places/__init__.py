"""Deep links: to copy one, to go to one."""
