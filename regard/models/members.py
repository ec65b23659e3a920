"""Members of a stack: small models side by side, each with the first weights that it would have alone."""

from collections.abc import Callable, Sequence

import torch


@torch.no_grad()
def draw_members(seeds: Sequence[int], draw: Callable[[int, torch.Generator], object]) -> None:
    """Let `draw` fill the weights of each member, by its number and by chance that its seed alone decides."""
    for member, seed in enumerate(seeds):
        draw(member, torch.Generator().manual_seed(seed))
