"""A week's result: put together, as tables, as files, and published."""
