"""Algorithm 2, the Equivalence Hopper: from a solution to the equivalent one with the best prior."""
