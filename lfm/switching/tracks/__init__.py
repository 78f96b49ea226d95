"""Hypotheses of who is on: what they know, the changes they try, and the best of them."""
