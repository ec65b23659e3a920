"""One word in several contexts: where its vectors lie, layer by layer."""
