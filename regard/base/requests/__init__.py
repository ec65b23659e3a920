"""What the requests of all verbs are made of: fields, rules of what goes together, and names in refusals."""
