"""What a loaded model can be asked for, each a function over what people type or send."""
