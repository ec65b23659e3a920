"""DRAW (Gregor et al. 2015): a picture comes to be on a canvas, step by step, through a window that moves."""
