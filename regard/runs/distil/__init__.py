"""Distillation: a small student learns to write what a teacher, or an ensemble of them, writes."""
