"""Published weeks as other programs read them: nilmtk's HDF5, plain CSV, Home Assistant's statistics."""
