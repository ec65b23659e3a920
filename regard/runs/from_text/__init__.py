"""What to train when someone brings text files: sizes, batches and schedules chosen from the text and the machine."""
