"""Forward passes of fake models: a token's vector holds the length of its word and minus its place.

A block doubles them; inside are a norm, which changes nothing, and weights by which each token attends to itself.
"""

from typing import Any

import numpy as np

from regard.viewing.forward import ForwardPass, Guess, Layer, forward_data


def follow(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of /v1/forward."""
    words = question["text"].split()
    tokens = [f"▁{word}" for word in words]
    values = np.array([[len(word), -place] for place, word in enumerate(words)], dtype=float)
    inside = [
        Layer("blocks.0.norm", "norm", 1, tokens, (), values),
        Layer("blocks.0.look", "weights", 0, tokens, tokens, np.eye(len(tokens))),
    ]
    layers = [
        Layer("", "text_embeddings", 0, tokens, (), values),
        Layer("blocks.0", "block", 1, tokens, (), 2 * values, inside),
        Layer("", "logits", 0, tokens, (), np.repeat(values, 10, axis=1)),
    ]
    guesses = [Guess(token, [(token, 1.0, 0.75), ("</s>", -0.1, 0.25)]) for token in tokens]
    forward = ForwardPass(question["text"], "", layers, guesses, None)
    answer = {"model": question["model"], "seconds": 0.002, "output": ""}
    return forward_data(forward, question.get("opened")) | answer
