"""Training from text files alone: sizes, batches and schedules chosen from the text and the machine."""
