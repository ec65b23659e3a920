"""Words in their contexts: vectors that know the whole sentence, from two language models that read it both ways."""
