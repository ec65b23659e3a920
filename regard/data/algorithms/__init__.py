"""Examples of small algorithms: copy, repeat copy, associative recall and priority sort."""
