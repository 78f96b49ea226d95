"""Prefect flows and the command line over `nilm` and `lfm`. No arithmetic lives here."""
