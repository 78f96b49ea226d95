"""Rows as long as nothing changes: look at a recording often, and read closely where it changed."""
