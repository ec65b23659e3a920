"""The page of `regard judge`: two outputs side by side, blind and shuffled, and a file of votes."""
