"""What a person may ask of each verb, without torch: a class for each, filled from options or from JSON."""
