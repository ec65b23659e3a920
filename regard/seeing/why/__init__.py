"""Why a model wrote this: one decision as a question, and methods that score each unit of the input."""
