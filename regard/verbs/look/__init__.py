"""Looking: what a model looks at while it reads."""
