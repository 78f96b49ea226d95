"""How sure a week's result is: doubts, ranges, what cannot be told apart, what is left over."""
