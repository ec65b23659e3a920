"""The task: what is pointed at, which is generated, and what people read and see of it."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from regard.attention.watch import without_watching
from regard.base.faults import Fault, TextFault
from regard.base.recipe import Options, Recipe
from regard.plugins import Toy
from regard.protocols import Answer, Decision, Loss, Measure, Tally, mean
from regard.tasks.base import NetworkTask, NothingPrepared, build_network, check_size
from regard.tasks.sequences.batches import SequenceBatch
from regard.tasks.sequences.options import SequenceTraining
from regard.viewing.sides import Words

TOY = Toy(
    table=lambda folder: {"data": {"most": 5, "measured": 4}, "model": {"width": 8}, "training": {"batch": 4}},
    inputs=("0.5 0.1 0.9", "0.3 0.2 0.8 0.1"),
)


class PointingData(Options):
    """Elements that are pointed at."""

    job: Literal["sort", "hull"] = Field("sort", description="Numbers in order, or the convex hull of points.")
    fewest: int = Field(5, ge=3, le=100, description="The fewest elements of a sequence.")
    most: int = Field(10, ge=3, le=100, description="The most elements of a sequence.")
    measured: int = Field(500, ge=1, description="Sequences to validate and to test with, of the most elements.")

    @property
    def depth(self) -> int:
        return 1 if self.job == "sort" else 2


class PointingRecipe(Recipe):
    """All that decides a pointer network."""

    data: PointingData = Field(default_factory=PointingData, description="What is pointed at.")
    model: Any = Field(description="The architecture of the model.")
    training: SequenceTraining = Field(default_factory=SequenceTraining, description="How it is trained.")


def places_of(job: str, elements: np.ndarray) -> list[int]:
    """Return where to point: at numbers from small to large, or at a hull, counter-clockwise from the left; then 0."""
    order, points, hull = np.lexsort(elements.T[::-1]).tolist(), elements.tolist(), list[int]()
    for half in (order, order[::-1]) if job == "hull" else ():  # Andrew's monotone chain
        begin = len(hull)
        for place in half:
            while len(hull) > begin + 1 and not _turns_left(*(points[each] for each in (*hull[-2:], place))):
                hull.pop()
            hull.append(place)
        hull.pop()
    chosen = hull if job == "hull" else order
    return [*(place + 1 for place in chosen), *[0] * (len(order) + 1 - len(chosen))]


def _turns_left(a: list[float], b: list[float], c: list[float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


class Pointing(NetworkTask[PointingData]):
    """A network that points at elements of what it reads."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "accuracy")

    def __init__(self, model: Any, recipe: PointingRecipe) -> None:
        super().__init__(model)
        self.data, self.training_options = recipe.data, recipe.training

    @classmethod
    def check(cls, recipe: PointingRecipe, *others: Any) -> None:
        check_size(recipe, recipe.data.depth)

    @classmethod
    def prepare(cls, recipe: PointingRecipe, *others: Any) -> NothingPrepared:
        return NothingPrepared(f"{recipe.data.job}: {recipe.data.fewest} to {recipe.data.most} elements")

    @classmethod
    def build(cls, recipe: PointingRecipe, files: Any) -> "Pointing":
        return cls(build_network(recipe, recipe.data.depth), recipe)

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[SequenceBatch]:
        data, training = self.data, self.training_options
        is_train, rows = split == "train", rows if split == "train" else data.measured
        for number in range(start, training.validate_every * training.accumulate if is_train else 1):
            chance = np.random.default_rng([seed, epoch, number, 0] if is_train else [0, 0, len(split), 1])
            size = int(chance.integers(data.fewest, data.most + 1)) if is_train else data.most
            elements = chance.random((rows, size, data.depth)).astype(np.float32)
            places = torch.tensor([places_of(data.job, each) for each in elements])
            yield SequenceBatch(torch.from_numpy(elements), places)

    def loss(self, batch: SequenceBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        nats, counts = self._nats(batch.read, batch.wanted)
        return Loss(nats.sum(), counts.sum())

    def _nats(self, elements: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the places of each row cost, up to the first end, and how many these are."""
        costs = -self.model(elements, places[:, :-1]).gather(-1, places[..., None])[..., 0]
        counted = (places == 0).cumsum(dim=1) <= 1
        return (costs * counted).sum(1), counted.sum(1)

    @torch.no_grad()
    def sums_of_rows(self, batch: SequenceBatch) -> dict[str, Tensor]:
        right = (self.model.point(batch.read) == batch.wanted).all(dim=1)
        sums = {"loss": self._nats(batch.read, batch.wanted), "accuracy": (right, torch.ones_like(right))}
        return {name: torch.stack([each.double() for each in both], dim=1).cpu() for name, both in sums.items()}

    def measure(self, batch: SequenceBatch) -> dict[str, Measure]:
        tallies = {name: Tally(tuple(rows.sum(0).tolist()), mean) for name, rows in self.sums_of_rows(batch).items()}
        return {name: Measure(tally, "lower" if name == "loss" else "higher") for name, tally in tallies.items()}

    def read(self, inputs: Sequence[str]) -> SequenceBatch:
        """Return sequences as people write them: numbers, or points such as 0.1,0.9, with spaces between."""
        rows = [self._parse(number, str(text).split()) for number, text in enumerate(inputs)]
        elements = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=torch.nan)
        return SequenceBatch(elements, torch.zeros(len(rows))).to(self.device)

    def _parse(self, number: int, words: list[str]) -> Tensor:
        try:
            row = torch.tensor([[float(part) for part in word.split(",")] for word in words])
        except ValueError:
            row = torch.zeros(0)
        if row.ndim != 2 or row.shape[1] != self.data.depth or not row.isfinite().all():
            expected = "numbers" if self.data.depth == 1 else "points such as 0.1,0.9"
            raise TextFault(number, f"give {expected}, with spaces between them.")
        return row

    @torch.no_grad()
    def answers(self, batch: SequenceBatch) -> list[Answer]:
        with without_watching():
            places = self.model.point(batch.read)
        shares = (-self._nats(batch.read, places)[0]).exp().tolist()
        names = [self._names(row) for row in batch.read]
        texts = [
            " ".join(names[row][place - 1] for place in found if place) for row, found in enumerate(places.tolist())
        ]
        return [Answer(text, share, {text: share}) for text, share in zip(texts, shares, strict=True)]

    def _names(self, row: Tensor) -> list[str]:
        return [",".join(f"{number:g}" for number in element) for element in row.tolist() if element[0] == element[0]]

    def sides(self, batch: SequenceBatch, outputs: Sequence[Any]) -> dict[str, Words]:
        given, written = ["(end)", *self._names(batch.read[0])], outputs[0].answer.split()
        steps = [*written, *["(end)"] * (len(given) - len(written))]
        return {name: Words(each, each, range(len(each))) for name, each in (("output", steps), ("elements", given))}

    def decision(self, item: Any, output: str | None, place: int | None, word: str | None) -> Decision:
        """Return the decision to point at an element of the answer, by default the last, for `regard look --why`."""
        if output is not None or word is not None:
            raise Fault("Its own answer is explained; choose an element of it by its place.")
        elements = self.read([item]).read
        places = self.model.point(elements)
        names, found = self._names(elements[0]), [number - 1 for number in places[0].tolist() if number]
        where = len(found) - 1 if place is None else place
        if not 0 <= where < len(found):
            raise Fault(f"The answer has {len(found)} elements, so there is no element number {where + 1}.")
        return Decision(
            names,
            names[found[where]],
            elements[0],
            lambda copies: self.model(copies, places[:, :where].expand(len(copies), -1))[:, -1, found[where] + 1],
            inseparable="An output points at an element, which cannot be taken out; use occlusion.",
            baseline=elements[0].mean(dim=0).expand_as(elements[0]),
            output=" ".join(names[element] for element in found),
            queries=(where,),
            keys=range(1, len(names) + 1),
        )

    def facts(self) -> dict[str, Any]:
        return {"job": self.data.job, "elements": self.data.most}
