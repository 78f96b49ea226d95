"""What is in a simulated house: the models of its appliances, how they vary, and recorded waveforms."""
