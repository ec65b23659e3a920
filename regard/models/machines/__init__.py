"""Machines with a memory: controllers that read and write slots, shared by all kinds of memory."""
