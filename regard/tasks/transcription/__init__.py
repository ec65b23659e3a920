"""Writing down what is said in a sound."""
