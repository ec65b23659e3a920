"""What knows the machine and no model: threads, memory that runs out, steps of a GPU captured and replayed."""
