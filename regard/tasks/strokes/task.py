"""The task of drawing with strokes: batches of drawings, nats as measures, and sampled strokes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.masks import real_places
from regard.base.faults import Fault
from regard.data.strokes.drawings import strokes_of
from regard.data.strokes.options import StrokeData
from regard.data.strokes.prepare import StrokeScale, check_files_there, open_scale
from regard.models.strokes.network import Sketcher, StrokeShape
from regard.protocols import Loss, Measure, SketchRequest, Tally, mean
from regard.tasks.base import Files, build_network, check_size
from regard.tasks.strokes.base import DrawingTask
from regard.tasks.strokes.batches import StrokeBatch, gather_batch, stroke_batches
from regard.tasks.strokes.options import StrokeRecipe, StrokeTraining
from regard.tasks.strokes.reading import GivenDrawing
from regard.tasks.strokes.steps import CHANCES, Moves, StepKind, Tokens, kind_of_steps
from regard.viewing.drawings import DrawnStrokes
from regard.viewing.sides import Side


@dataclass(frozen=True)
class Pen:
    """A pen: a network, its kind of steps, its temperature, and the most steps it may take."""

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
        """Return the moves of `rows` drawings, each continuing the steps in `begun`.

        Without `latent`, the latents are sampled too. Random numbers are drawn on the CPU, all that a drawing can need
        at once, so that the first drawing does not depend on how many there are.
        """
        device, dtype = next(self.network.parameters()).device, self.network.dtype
        size = self.network.options.latent
        random = [(torch.randn(size, generator=chance), _even(self.longest, chance)) for _ in range(rows)]
        noise, chances = (torch.stack(part).to(device) for part in zip(*random, strict=True))
        if size and latent is None:
            latent = noise.to(dtype)
        before, memory, steps = self.kind.begin(rows, dtype, device), None, []
        done = torch.zeros(rows, dtype=torch.bool, device=device)
        prefix = [] if begun is None else list(torch.from_numpy(begun).to(device))
        ends = torch.full((rows,), self.longest, device=device)
        for number in range(self.longest):
            outputs, memory = self.network(before, latent, memory)
            choices = outputs[:, -1].float(), self.temperature, chances[:, number]
            if number < len(prefix):
                step, ended = self._expand(prefix[number], rows, dtype), torch.zeros_like(done)
                if number == len(prefix) - 1:
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
        """Return one given step for all rows: the numbers of a move, or a token."""
        wide = step.expand(rows, *step.shape)
        return wide.to(dtype) if step.dim() else wide


def _even(steps: int, chance: torch.Generator) -> Float[Tensor, "step chance"]:
    return torch.rand(steps, CHANCES, generator=chance)


class Strokes(DrawingTask):
    """A network that draws, the scale of its drawings, and what a step of them is."""

    MEASURES: ClassVar[tuple[str, ...]] = ("nats", "nats_per_point")
    unit = "points"
    model: Sketcher

    def __init__(
        self, model: Sketcher, kind: Moves | Tokens, data: StrokeData, scale: StrokeScale, training: StrokeTraining
    ) -> None:
        super().__init__(model, kind, data, scale)
        self.training_options = training

    # Construction

    @classmethod
    def check(cls, recipe: StrokeRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data, folder)
        check_size(recipe, StrokeShape(2, None))

    @classmethod
    def build(cls, recipe: StrokeRecipe, files: Files) -> "Strokes":
        scale = open_scale(files)
        kind = kind_of_steps(scale, recipe.data)
        network = build_network(recipe, StrokeShape(scale.steps, kind.tokens))
        return cls(network, kind, recipe.data, scale, recipe.training)

    # Training and evaluation

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[StrokeBatch]:
        drawings, latent = self.material.splits[split], self.model.options.latent
        return stroke_batches(drawings, split, rows, latent, self.scale.steps, seed, epoch, start)

    def loss(self, batch: StrokeBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return the nats of all drawings, with an autoencoder's weighted divergence; counted per move."""
        nats, divergence = self._nats(batch)
        return Loss((nats + self.training_options.divergence * divergence).sum(), batch.count)

    @torch.no_grad()
    def measure(self, batch: StrokeBatch) -> dict[str, Measure]:
        totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in self.sums_of_rows(batch).items()}
        signature = "on the lattice of whole units" + ("" if self.kind.tokens else "|a bound, with even noise")
        signature += "|a bound, with the divergence" if self.model.options.latent else ""
        return {
            "nats": Measure(Tally(totals["nats"], mean), "lower", f"of a drawing, {signature}"),
            "nats_per_point": Measure(Tally(totals["nats_per_point"], mean), "lower", f"of a move, {signature}"),
        }

    @torch.no_grad()
    def sums_of_rows(self, batch: StrokeBatch) -> dict[str, Tensor]:
        drawing_nats, divergence = self._nats(batch)
        nats = (drawing_nats + divergence).double().cpu()
        points = batch.points.double()
        return {
            "nats": torch.stack([nats, torch.ones_like(nats)], dim=1),
            "nats_per_point": torch.stack([nats, points], dim=1),
        }

    def _nats(self, batch: StrokeBatch) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
        """Return the nats of each drawing, and the divergence of its latents."""
        read = self.kind.read(batch, self.model.dtype)
        latent, divergence = None, torch.zeros_like(batch.lengths, dtype=self.model.dtype)
        if self.model.options.latent:
            summary = self.model.sum_up(read.steps, batch.lengths)
            latent, divergence = summary.with_noise(batch.noise.to(self.model.dtype)), summary.divergence()
        outputs, _ = self.model(read.inputs, latent)
        real = real_places(batch.lengths, outputs.shape[1])
        return (self.kind.nats(outputs, read.wanted) * real).sum(dim=1), divergence

    # For people

    def read(self, inputs: Sequence[GivenDrawing]) -> StrokeBatch:
        """Read the first drawing in each file, or moves (move, 3) in whole units."""
        drawings = self.reader.read(inputs)
        batch = gather_batch(drawings, np.arange(len(drawings)), self.model.options.latent, self.scale.steps, [0])
        still = replace(batch, chance=torch.zeros_like(batch.chance), noise=torch.zeros_like(batch.noise))
        return still.to(self.device)

    def draw(self, count: int, chance: torch.Generator) -> list[DrawnStrokes]:
        return self.sketch(count, chance, SketchRequest())

    def sketch(self, count: int, chance: torch.Generator, request: SketchRequest) -> list[DrawnStrokes]:
        """Draw from nothing or from the drawings of the request, at its temperature."""
        pen = Pen(self.model, self.kind, request.temperature, self.scale.steps)
        names = ["The drawing"] if len(request.strokes) < 2 else ["The first drawing", "The second drawing"]
        drawings = [
            self.reader.moves_along(strokes, name) for strokes, name in zip(request.strokes, names, strict=False)
        ]
        if request.way in ("between", "reconstruct"):
            return self._shown(pen.sketch(count, chance, latent=self._latents(drawings, count)))
        if request.way == "nothing":
            return self._shown(pen.sketch(count, chance))
        (moves,) = drawings
        return self._shown(pen.sketch(count, chance, self._begun(moves)), len(moves) + 1)

    def _begun(self, moves: np.ndarray) -> np.ndarray:
        """Return the steps of a drawing to continue: without its end, and without that of its last stroke."""
        steps = self.reader.steps(moves)
        return steps[:-1] if self.kind.tokens else steps

    @torch.no_grad()
    def _latents(self, drawings: Sequence[np.ndarray], count: int) -> Float[Tensor, "count latent"]:
        """Return the latents of the given drawings, and steps on the straight line from the first to the last."""
        if not self.model.options.latent:
            raise Fault("This model cannot encode drawings; only autoencoders can (model.latent above 0).")
        batch = self.read(drawings)
        means = self.model.sum_up(self.kind.read(batch, self.model.dtype).steps, batch.lengths).mean
        way = torch.linspace(0, 1, count, dtype=means.dtype, device=means.device)[:, None]
        return means[:1] + way * (means[-1:] - means[:1])

    def _shown(self, drawings: Sequence[np.ndarray], begun_points: int = 0) -> list[DrawnStrokes]:
        return [DrawnStrokes([stroke * self.data.unit for stroke in strokes_of(m)], begun_points) for m in drawings]

    @torch.no_grad()
    def redraw(self, batch: StrokeBatch) -> list[float]:
        """Return the nats of each drawing, drawn point by point."""
        nats, divergence = self._nats(batch)
        return (nats + divergence).tolist()

    def sides(self, batch: StrokeBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        """Return the points from which it draws: where the pen is put down, then after each step."""
        return self.stroke_side(batch, is_behind=False)

    def quote(self, batch: StrokeBatch) -> str:
        return f"a drawing of {int(batch.points[0])} moves"

    def facts(self) -> dict[str, Any]:
        latent = self.model.options.latent
        return super().facts() | ({"latent": latent} if latent else {})
