"""Nearest training examples: places of the training data whose states are closest to a given one."""
