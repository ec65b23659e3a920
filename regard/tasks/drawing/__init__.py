"""Drawing pictures from nothing, by learning the distribution of a data set."""
