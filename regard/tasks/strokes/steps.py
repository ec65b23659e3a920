"""Steps of a drawing, as moves or tokens: how to read them, their probability, and how to sample them."""

import math
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.data.strokes.codings import END, FIRST, START, TokenCoding
from regard.data.strokes.drawings import DONE, DOWN
from regard.data.strokes.options import StrokeData
from regard.data.strokes.prepare import StrokeScale, with_end
from regard.models.parts import choose_by
from regard.models.strokes.mixture import PENS, draw_move, log_density, log_pens, mixture_of
from regard.models.strokes.network import FEATURES
from regard.tasks.strokes.batches import StrokeBatch

CHANCES = 4  # random numbers used to sample a step


class Read(NamedTuple):
    """A batch as a network reads it: the inputs, each being the previous step, and the steps themselves.

    `wanted` are the moves with their noise and scale, and the pens, or the tokens.
    """

    inputs: Tensor
    steps: Tensor
    wanted: tuple[Tensor, ...]


@runtime_checkable
class StepKind(Protocol):
    """Moves or tokens; `tokens` is None for moves."""

    @property
    def tokens(self) -> int | None: ...
    def read(self, batch: StrokeBatch, dtype: torch.dtype) -> Read: ...
    def nats(self, outputs: Tensor, wanted: tuple[Tensor, ...]) -> Float[Tensor, "batch time"]: ...
    def begin(self, rows: int, dtype: torch.dtype, device: torch.device) -> Tensor: ...
    def draw(self, outputs: Tensor, temperature: float, chance: Tensor) -> tuple[Tensor, Tensor]: ...
    def follow(self, before: Tensor, step: Tensor) -> Tensor: ...
    def settle(self, step: Tensor, outputs: Tensor, temperature: float, chance: Tensor) -> tuple[Tensor, Tensor]: ...
    def encode(self, moves: np.ndarray) -> np.ndarray: ...
    def is_move(self, steps: np.ndarray) -> np.ndarray: ...
    def decode(self, steps: np.ndarray) -> np.ndarray: ...


class Moves(nn.Module):
    """Moves of the pen in units of `scale`, each with a mixture density."""

    tokens = None

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def read(self, batch: StrokeBatch, dtype: torch.dtype) -> Read:
        moves = (batch.steps[..., :2].to(dtype) + batch.chance.to(dtype)) / self.scale
        pens = batch.steps[..., 2]
        steps = features_of(moves, pens)
        first = self.begin(batch.rows, dtype, steps.device)
        return Read(torch.cat([first, steps[:, :-1]], dim=1), steps, (moves, pens))

    def nats(self, outputs: Tensor, wanted: tuple[Tensor, ...]) -> Float[Tensor, "batch time"]:
        """Return −log p of a move on the lattice: the density in units of one is that in units of `scale` over
        scale².
        """
        moves, pens = wanted
        mixture = mixture_of(outputs)
        of_pens = F.nll_loss(log_pens(mixture).transpose(1, 2), pens, reduction="none")
        return of_pens + 2 * math.log(self.scale) - log_density(mixture, moves)

    def begin(self, rows: int, dtype: torch.dtype, device: torch.device) -> Float[Tensor, "rows 1 feature"]:
        """Return no move at the origin, with the pen down."""
        first = torch.zeros(rows, 1, FEATURES, dtype=dtype, device=device)
        first[:, :, FEATURES - PENS + DOWN] = 1
        return first

    def draw(
        self, outputs: Float[Tensor, "row output"], temperature: float, chance: Float[Tensor, "row 4"]
    ) -> tuple[Float[Tensor, "row 3"], Tensor]:
        """Sample a step for each row, in units of one, and whether it ends the drawing."""
        move, pen = draw_move(mixture_of(outputs), temperature, chance)
        return torch.cat([move * self.scale, pen[:, None].to(move.dtype)], dim=-1), pen == DONE

    def settle(
        self, step: Float[Tensor, "row 3"], outputs: Tensor, temperature: float, chance: Tensor
    ) -> tuple[Float[Tensor, "row 3"], Tensor]:
        """Return the last step that people drew, with a sampled pen state, which they did not give."""
        sampled, done = self.draw(outputs, temperature, chance)
        return torch.cat([step[:, :2], sampled[:, 2:]], dim=-1), done

    def follow(self, before: Float[Tensor, "row 1 feature"], step: Float[Tensor, "row 3"]) -> Tensor:
        """Return a step as the network reads it, given the step before it."""
        move = step[:, :2] / self.scale
        pen = F.one_hot(step[:, 2].long(), PENS).to(move.dtype)
        return torch.cat([move, before[:, 0, 2:4] + move, pen], dim=-1).unsqueeze(1)

    def is_move(self, steps: np.ndarray) -> np.ndarray:
        return np.ones(len(steps), bool)

    def encode(self, moves: np.ndarray) -> np.ndarray:
        return with_end(moves)

    def decode(self, steps: np.ndarray) -> np.ndarray:
        """Return the moves (move, 3), the last of which ends its stroke."""
        moves = np.concatenate([steps[:, :2], steps[:, 2:] != DOWN], axis=1)
        moves[-1:, 2] = 1
        return moves


class Tokens(nn.Module):
    """Tokens of a coding, with a probability for each, and for the points that it stands for."""

    log_points: Float[Tensor, " token"]

    def __init__(self, coding: TokenCoding) -> None:
        super().__init__()
        self.coding = coding
        self.register_buffer("log_points", torch.from_numpy(np.log(coding.points)).float(), persistent=False)

    @property
    def tokens(self) -> int:
        return self.coding.tokens

    def read(self, batch: StrokeBatch, dtype: torch.dtype) -> Read:
        first = torch.full_like(batch.steps[:, :1], START)
        return Read(torch.cat([first, batch.steps[:, :-1]], dim=1), batch.steps, (batch.steps,))

    def nats(self, outputs: Tensor, wanted: tuple[Tensor, ...]) -> Float[Tensor, "batch time"]:
        (tokens,) = wanted
        return F.cross_entropy(outputs.transpose(1, 2), tokens, reduction="none") + self.log_points[tokens]

    def begin(self, rows: int, dtype: torch.dtype, device: torch.device) -> Int[Tensor, "rows 1"]:
        return torch.full((rows, 1), START, device=device)

    def draw(
        self, outputs: Float[Tensor, "row token"], temperature: float, chance: Float[Tensor, "row 4"]
    ) -> tuple[Int[Tensor, " row"], Tensor]:
        """Sample a token for each row, and whether it ends the drawing; the start token never recurs."""
        logits = outputs / temperature
        logits[:, START] = -torch.inf
        token = choose_by(logits, chance[:, 0])
        return token, token == END

    def settle(
        self, step: Int[Tensor, " row"], outputs: Tensor, temperature: float, chance: Tensor
    ) -> tuple[Int[Tensor, " row"], Tensor]:
        """Return the step unchanged: a token of a point says nothing about the pen after it."""
        return step, torch.zeros_like(step, dtype=torch.bool)

    def follow(self, before: Tensor, step: Int[Tensor, " row"]) -> Int[Tensor, "row 1"]:
        return step.unsqueeze(1)

    def is_move(self, steps: np.ndarray) -> np.ndarray:
        return steps >= FIRST

    def encode(self, moves: np.ndarray) -> np.ndarray:
        return self.coding.encode([moves])[0]

    def decode(self, steps: np.ndarray) -> np.ndarray:
        return self.coding.decode(steps)


def features_of(
    moves: Float[Tensor, "batch time 2"], pens: Int[Tensor, "batch time"]
) -> Float[Tensor, "batch time feature"]:
    """Return moves as networks read them: distance, position, and pen state."""
    return torch.cat([moves, moves.cumsum(dim=1), F.one_hot(pens, PENS).to(moves.dtype)], dim=-1)


def kind_of_steps(scale: StrokeScale, data: StrokeData) -> Moves | Tokens:
    """Return the kind of steps for drawings coded as the data options say."""
    coding = scale.coding(data)
    return Moves(scale.scale) if coding is None else Tokens(coding)
