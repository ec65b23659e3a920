"""Verbs of a loaded model: functions over what people type or send."""
