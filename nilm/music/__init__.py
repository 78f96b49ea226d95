"""Piano recordings: spectra, notes without labels, and their report."""
