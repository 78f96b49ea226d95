"""What records a simulated house: the device on the meter, the windows that it keeps, FLAC and submeters."""
