"""Node classification in a graph, learnt from the few nodes whose labels are known."""
