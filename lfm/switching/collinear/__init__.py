"""Features of one shape: which of them are one appliance, and whose activations are whose."""
