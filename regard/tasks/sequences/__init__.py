"""Long sequences of numbers or symbols, answered with a number, a class or the symbols themselves."""
