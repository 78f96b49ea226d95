"""The version of the whole distribution: the one place that a release changes."""

__version__ = "0.2.0"
