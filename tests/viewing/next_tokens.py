"""Choices of next tokens with numbers that can be checked by hand."""

from collections.abc import Sequence

import numpy as np

from regard.viewing.choices import Choices, Panel

OWN = np.array([0.4, 0.3, 0.2, 0.06, 0.04])


def left(*kept: bool) -> np.ndarray:
    """Return the probabilities when only some tokens are kept."""
    shares = OWN * np.array(kept)
    return shares / shares.sum()


def choices(
    tokens: Sequence[str] = ("▁a", "▁o", "▁um"), before: Sequence[str] = ("▁Eu", "▁vejo"), taken: int | None = 1
) -> Choices:
    """Return five tokens, three of them shown; of two panels the first cuts two tokens, the second one more."""
    panels = [
        Panel("the model's own", "", {}, OWN),
        Panel("top-k", "3", {"top_k": 3}, left(True, True, True, False, False)),
        Panel("then top-p", "0.7", {"top_k": 3, "top_p": 0.7}, left(True, True, False, False, False)),
    ]
    return Choices("I see", before, "Eu vejo", tokens, [7, 8, 9][: len(tokens)], panels, [0, 0, 1], taken)
