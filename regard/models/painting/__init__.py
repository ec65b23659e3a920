"""Pictures from text: a learnt codebook, and a Transformer that writes its codes."""
