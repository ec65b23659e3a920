"""The task of learning an algorithm: example batches, answers in bits, and attention over memory slots."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.watch import without_watching
from regard.base.progress import Progress, Remark
from regard.data.algorithms.examples import channels, draw_examples
from regard.data.algorithms.options import AlgorithmData
from regard.data.algorithms.spelling import read_examples, write_bits, write_items
from regard.protocols import Answer, Loss, Measure, Tally, mean
from regard.tasks.algorithms.batches import AlgorithmBatch, LearntExamples, held_out_batches
from regard.tasks.algorithms.options import AlgorithmRecipe
from regard.tasks.base import (
    Files,
    MembersTask,
    NothingPrepared,
    build_network,
    check_size,
    mean_of,
    member_seeds,
)
from regard.viewing.sides import Side, Slots, Steps


@runtime_checkable
class AlgorithmNetwork(Protocol):
    """A network that answers at each step; if it has a memory, it names its slots and the heads that read them."""

    slots: int  # 0 without a memory

    @property
    def head_names(self) -> Sequence[str]: ...
    @property
    def dtype(self) -> torch.dtype: ...
    def __call__(self, inputs: Tensor, slots: int | None = None) -> Tensor: ...
    def multiplications(self) -> int: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...


class Algorithms(MembersTask[LearntExamples]):
    """A network that learns an algorithm. Several members may train side by side; their mean answers."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "bit_error", "exact")
    unit = "bits"
    draws_by: tuple[str, ...] = ("validate_every", "accumulate")

    def __init__(self, model: AlgorithmNetwork, data: AlgorithmData, members: int = 1) -> None:
        super().__init__(model, members)
        self.data = data

    # Construction

    @classmethod
    def check(cls, recipe: AlgorithmRecipe, device: torch.device, folder: Path | None) -> None:
        check_size(recipe, *channels(recipe.data), member_seeds(recipe))

    @classmethod
    def prepare(
        cls, recipe: AlgorithmRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> NothingPrepared:
        data = recipe.data
        return NothingPrepared(f"{data.algorithm} of {data.fewest} to {data.most} items, {data.bits} bits each")

    @classmethod
    def build(cls, recipe: AlgorithmRecipe, files: Files) -> "Algorithms":
        network = build_network(recipe, *channels(recipe.data), member_seeds(recipe))
        return cls(network, recipe.data, recipe.training.members)

    def learn_from(self, prepared: NothingPrepared, recipe: AlgorithmRecipe) -> None:
        training = recipe.training
        epoch = training.validate_every * training.accumulate
        self._material = LearntExamples(
            self.data, training.batch, epoch, training.curriculum, training.repeats_curriculum
        )

    # Training and evaluation

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[AlgorithmBatch]:
        if split == "train":
            for batch in self.material.batches(range(seed, seed + self.members), epoch, start):
                yield batch.to(self.device)
        elif held_out := self.data.held_out(split):
            for batch in held_out_batches(self.data, held_out, split, start):
                yield batch.to(self.device).repeat(self.members)

    def loss(self, batch: AlgorithmBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return the cross-entropy of the answer bits, summed over bits and members."""
        return Loss(self._nats(self._logits(batch), batch).sum(), batch.count)

    @torch.no_grad()
    def measure(self, batch: AlgorithmBatch) -> dict[str, Measure]:
        sums = self._sums(batch)
        return {name: self._of_rows(name, part, slice(None)) for name, part in sums.items()}

    @torch.no_grad()
    def measure_parts(self, batch: AlgorithmBatch) -> dict[str, dict[str, Measure]]:
        """Measure each number of items separately."""
        sums, counts = self._sums(batch), sorted(set(batch.items.tolist()))
        rows = {count: (batch.items == count).nonzero().squeeze(1) for count in counts}
        return {
            count_items(count): {name: self._of_rows(name, part, rows[count]) for name, part in sums.items()}
            for count in counts
        }

    @torch.no_grad()
    def sums_of_rows(self, batch: AlgorithmBatch) -> dict[str, Tensor]:
        return {name: part.sum(dim=0) for name, part in self._sums(batch).items()}

    def _sums(self, batch: AlgorithmBatch) -> dict[str, Float[Tensor, "member row 2"]]:
        """Return each row's contribution to each metric with its number of bits or sequences, on the host."""
        logits = self._logits(batch).double()
        is_asked = batch.asked.unsqueeze(-1).expand(batch.answers.shape)
        wrong = ((logits > 0) != (batch.answers > 0.5)) & is_asked
        wrong_bits, bits = wrong.sum((2, 3)).double(), is_asked.sum((2, 3)).double()
        nats = self._nats(logits, batch).sum((2, 3))
        parts = {
            "loss": (nats, bits),
            "bit_error": (100 * wrong_bits, bits),
            "exact": (100 * (wrong_bits == 0).double(), torch.ones_like(bits)),
        }
        return {name: torch.stack(part, dim=-1).cpu() for name, part in parts.items()}

    def _of_rows(self, name: str, sums: Float[Tensor, "member row 2"], rows: Any) -> Measure:
        signature = {
            "loss": "nats per bit|range:0-inf",
            "bit_error": "percent of the bits",
            "exact": "percent of the sequences",
        }[name]
        tallies = [Tally(tuple(sums_of_member.tolist()), mean) for sums_of_member in sums[:, rows].sum(dim=1)]
        return Measure.of_members(tallies, "higher" if name == "exact" else "lower", mean_of(self.members) + signature)

    def _logits(self, batch: AlgorithmBatch) -> Float[Tensor, "member row step bit"]:
        return self.model(batch.inputs.to(self.model.dtype), batch.slots)

    def _nats(self, logits: Tensor, batch: AlgorithmBatch) -> Float[Tensor, "member row step bit"]:
        nats = F.binary_cross_entropy_with_logits(logits, batch.answers.to(logits.dtype), reduction="none")
        return nats * batch.asked.unsqueeze(-1)

    # For people

    def read(self, inputs: Sequence[str]) -> AlgorithmBatch:
        """Return the examples that people wrote as a batch, the same for every member."""
        return AlgorithmBatch.of([read_examples(inputs, self.data)]).to(self.device).repeat(self.members)

    def answers(self, batch: AlgorithmBatch) -> list[Answer]:
        """Return the answer to each example, with the probability of all its bits together."""
        probabilities = self._probabilities(batch)
        return [
            _answer(row[is_asked], self.data) for row, is_asked in zip(probabilities, batch.asked.cpu(), strict=True)
        ]

    @torch.no_grad()
    def _probabilities(self, batch: AlgorithmBatch) -> Float[Tensor, "row step bit"]:
        return self._logits(batch).double().sigmoid().mean(dim=0).cpu()

    def sides(self, batch: AlgorithmBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        if not self.model.slots:
            return {}
        inputs, asked = batch.inputs[0, 0].cpu().numpy(), batch.asked[0].cpu().numpy()
        with without_watching():
            answered = self._probabilities(batch)[0].numpy() * asked[:, None]
        names = [
            f"→ {write_bits(answer[: self.data.bits])}" if is_asked else write_bits(item[: self.data.bits])
            for item, answer, is_asked in zip(inputs, answered, asked, strict=True)
        ]
        return {"steps": Steps(names, inputs, answered), "slots": Slots(self.model.slots, self.model.head_names)}

    def quote(self, batch: AlgorithmBatch) -> str:
        return f"{self.data.algorithm} of {count_items(int(batch.items[0]))}"

    def facts(self) -> dict[str, Any]:
        members = {"members": self.members} if self.members > 1 else {}
        return {"algorithm": self.data.algorithm, "bits": self.data.bits, "items": self.data.most, **members}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of an example of `size` items."""
        items = max(size, 2 if self.data.algorithm == "recall" else 1)
        example = draw_examples(self.data, 1, items, self.data.most_repeats, np.random.default_rng(0))
        return {"steps": example.steps, "multiplications": example.steps * self.model.multiplications()}


def count_items(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"


def _answer(probabilities: Float[Tensor, "step bit"], data: AlgorithmData) -> Answer:
    answer = write_items(probabilities.numpy() > 0.5, data)
    probability = float(torch.where(probabilities > 0.5, probabilities, 1 - probabilities).prod())
    return Answer(answer, probability, {answer: probability})
