"""Networks over long sequences of numbers or symbols."""
