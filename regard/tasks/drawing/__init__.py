"""Drawing pictures from nothing, by learning how probable those of a data set are."""
