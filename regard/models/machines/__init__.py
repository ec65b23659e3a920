"""Machines with a memory: controllers that read and write slots, the same for all kinds of memory."""
