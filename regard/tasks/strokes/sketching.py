"""Going on with drawings, step by step: from nothing, from moves that were made, from what sums up a drawing."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.models.strokes.network import Sketcher
from regard.tasks.strokes.steps import CHANCES, StepKind


@dataclass(frozen=True)
class Pen:
    """What draws: a network, what a step is to it, how freely it chooses, and how many steps it may take."""

    network: Sketcher
    kind: StepKind
    temperature: float
    longest: int

    @torch.no_grad()
    def sketch(
        self,
        rows: int,
        chance: torch.Generator,
        begun: np.ndarray | None = None,
        latent: Float[Tensor, "rows latent"] | None = None,
    ) -> list[np.ndarray]:
        """The moves of so many drawings, each after the same steps that were `begun`.

        What sums up a drawing, where nobody says it, is drawn too. Chance is drawn on the CPU, all that a drawing can
        need at once, so that the first of many is that of a few.
        """
        device, dtype = next(self.network.parameters()).device, self.network.dtype
        size = self.network.options.latent
        drawn = [(torch.randn(size, generator=chance), _even(self.longest, chance)) for _ in range(rows)]
        noise, chances = (torch.stack(each).to(device) for each in zip(*drawn, strict=True))
        if size and latent is None:
            latent = noise.to(dtype)
        before, memory, steps = self.kind.begin(rows, dtype, device), None, []
        done = torch.zeros(rows, dtype=torch.bool, device=device)
        given = [] if begun is None else list(torch.from_numpy(begun).to(device))
        ends = torch.full((rows,), self.longest, device=device)
        for number in range(self.longest):
            outputs, memory = self.network(before, latent, memory)
            choices = outputs[:, -1].float(), self.temperature, chances[:, number]
            if number < len(given):
                step, ended = self._expand(given[number], rows, dtype), torch.zeros_like(done)
                if number == len(given) - 1:
                    step, ended = self.kind.settle(step, *choices)
            else:
                step, ended = self.kind.draw(*choices)
            steps.append(step)
            ends = torch.where(ended & ~done, number + 1, ends)
            done = done | ended
            if done.all():
                break
            before = self.kind.follow(before, step)
        whole = torch.stack(steps, dim=1).cpu().numpy()
        return [self.kind.decode(row[:end]) for row, end in zip(whole, ends.tolist(), strict=True)]

    def _expand(self, step: Tensor, rows: int, dtype: torch.dtype) -> Tensor:
        """One given step for all rows: numbers of a move, or a token."""
        wide = step.expand(rows, *step.shape)
        return wide.to(dtype) if step.dim() else wide


def _even(steps: int, chance: torch.Generator) -> Float[Tensor, "step chance"]:
    return torch.rand(steps, CHANCES, generator=chance)
