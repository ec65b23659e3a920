"""Members of a stack: small models side by side, each with the first weights that it would have alone."""

from collections.abc import Callable, Sequence

import torch


@torch.no_grad()
def draw_members(seeds: Sequence[int], *draws: Callable[[int, torch.Generator], None]) -> None:
    """Let each of `draws` fill weights of every member, by its number and by chance that its seed alone decides."""
    for member, seed in enumerate(seeds):
        generator = torch.Generator().manual_seed(seed)
        for draw in draws:
            draw(member, generator)
