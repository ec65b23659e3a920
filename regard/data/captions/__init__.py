"""Pictures with captions: features of the pictures, what people wrote of them, and how both are kept ready."""
