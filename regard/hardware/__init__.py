"""The machine, without any model: devices, threads, running out of memory, captured and replayed GPU steps."""
