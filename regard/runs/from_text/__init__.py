"""Train from text files alone: sizes, batches and schedules are chosen from the text and the machine."""
