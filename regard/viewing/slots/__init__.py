"""The slots of a memory: where heads read and wrote, step after step."""
