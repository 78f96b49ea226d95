"""Reports: figures, templates and pages."""
