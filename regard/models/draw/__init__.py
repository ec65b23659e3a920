"""DRAW (Gregor et al. 2015): draws a picture on a canvas step by step, through a moving window."""
