"""What a loaded model can be asked for, each verb a function over what people type or send."""
