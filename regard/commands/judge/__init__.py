"""`regard judge`: people judge two outputs blind."""
