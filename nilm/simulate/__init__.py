"""A house with known truth, written in UK-DALE's own format."""
