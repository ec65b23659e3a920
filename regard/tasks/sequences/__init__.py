"""Long sequences of numbers or symbols, of which a number, a class or the symbols themselves are wanted."""
