"""The machine, without any model: threads, running out of memory, captured and replayed GPU steps."""
