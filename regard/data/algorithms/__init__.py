"""Examples of small algorithms: copying, copying several times, recalling what followed, sorting by priority."""
