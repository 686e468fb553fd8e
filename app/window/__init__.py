"""The window: entry, layouts, menus, palette, status; it frames the panels."""
