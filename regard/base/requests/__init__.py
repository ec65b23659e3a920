"""Parts of all verbs' requests: fields, rules on which go together, and names in refusals."""
