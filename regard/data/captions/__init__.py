"""Pictures with captions: features of the pictures, their captions, and how both are prepared."""
