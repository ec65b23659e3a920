"""The task of long sequences: batches of examples, answered with a number, a class or earlier symbols."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.base.progress import Progress, Remark
from regard.data.pictures.prepare import PictureLabels, check_files_there
from regard.data.sequences.prepare import PreparedSequences, check_steps, labels_of, prepare_sequences
from regard.hardware.precision import check_cell
from regard.models.language import TEXT
from regard.protocols import Answer, Decision, Loss, Measure, Tally, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.sequences.batches import SequenceBatch
from regard.tasks.sequences.jobs import Job, job_of
from regard.tasks.sequences.options import SequencesRecipe, SequenceTraining
from regard.viewing.sides import Side, Words

QUOTED = 12  # steps of a sequence shown in a quote


class LongSequences(NetworkTask[PreparedSequences]):
    """A network over sequences, and its job."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "error", "accuracy")

    def __init__(self, model: Any, job: Job, training: SequenceTraining) -> None:
        super().__init__(model)
        self.job, self.training_options = job, training

    # Construction

    @classmethod
    def check(cls, recipe: SequencesRecipe, device: torch.device, folder: Path | None) -> None:
        check_cell(getattr(recipe.model, "cell", None), recipe.training.precision, device)
        labels = None
        if recipe.data.pictures is not None:
            check_files_there(recipe.data.pictures, folder)
            labels = PictureLabels(classes=["0", "1"], height=1, width=recipe.data.at_once)
        check_size(recipe, job_of(recipe.data, labels).shape)

    @classmethod
    def prepare(
        cls, recipe: SequencesRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedSequences:
        prepared = prepare_sequences(recipe.data, folder, progress)
        if start is not None and prepared.pictures is not None and (labels := labels_of(recipe.data, start)):
            labels.refuse_others(prepared.pictures.labels)
        return prepared

    @classmethod
    def build(cls, recipe: SequencesRecipe, files: Files) -> "LongSequences":
        labels = labels_of(recipe.data, files)
        if labels is not None:
            check_steps(recipe.data, labels)
        job = job_of(recipe.data, labels)
        return cls(build_network(recipe, job.shape), job, recipe.training)

    # Training and evaluation

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[SequenceBatch]:
        for read, targets in self.material.batches(split, rows, seed, epoch, start):
            yield SequenceBatch(torch.from_numpy(read), torch.from_numpy(targets))

    def loss(self, batch: SequenceBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        return Loss(self.job.losses(self._outputs(batch), batch.wanted).sum(), batch.count)

    @torch.no_grad()
    def measure(self, batch: SequenceBatch) -> dict[str, Measure]:
        totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in self.sums_of_rows(batch).items()}
        return {
            "loss": Measure(Tally(totals["loss"], mean), "lower"),
            "error": Measure(Tally(totals["error"], mean), "lower", self.job.wrong),
            "accuracy": Measure(Tally(totals["accuracy"], mean), "higher"),
        }

    @torch.no_grad()
    def sums_of_rows(self, batch: SequenceBatch) -> dict[str, Tensor]:
        outputs = self._outputs(batch)
        losses, right = self.job.losses(outputs, batch.wanted).double(), self.job.right(outputs, batch.wanted).double()
        outputs_wanted, answers = (torch.full_like(losses, tensor[0].numel()) for tensor in (batch.wanted, right))
        right = right.sum(1)
        return {
            "loss": torch.stack([losses, outputs_wanted], dim=1),
            "error": torch.stack([100 * (answers - right), answers], dim=1),
            "accuracy": torch.stack([right, answers], dim=1),
        }

    def _outputs(self, batch: SequenceBatch) -> Tensor:
        return self.model(self.job.numbers(batch.read, next(self.parameters()).dtype))

    # For people

    def read(self, inputs: Sequence[str]) -> SequenceBatch:
        """Read sequences as people write them, one per line."""
        rows = []
        for number, text in enumerate(inputs):
            try:
                rows.append(self.job.parse(str(text)))
            except Fault as fault:
                raise TextFault(number, str(fault)) from None
        read = torch.from_numpy(np.stack(rows))
        return SequenceBatch(read, torch.zeros(len(rows))).to(self.device)

    @torch.no_grad()
    def answers(self, batch: SequenceBatch) -> list[Answer]:
        return [self.job.answer(outputs) for outputs in self._outputs(batch)]

    def decision(self, item: str, output: str | None, place: int | None, word: str | None) -> Decision:
        """Return the decision for a class, or for the symbol at a place of the answer, by default the last.

        Units are the steps up to the answer; with some of them taken out, the last one that is left answers.
        """
        classes, answered = self.job.classes, self.job.answered
        if not classes:
            raise Fault("This model answers with a number, which has no probability, so nothing can be traced.")
        if word is not None or (place is not None and not 0 <= place < answered):
            raise Fault(
                f"The answer has {answered} places, counted from 1; choose one of them, or omit place and word."
            )
        if output is not None and output not in classes:
            raise Fault(f"There is no answer '{output[:40]}'; the answers are {', '.join(classes[:20])}.")
        batch = self.read([item])
        steps = self.job.shape.length - answered + (answered if place is None else place + 1)
        inputs = self.job.numbers(batch.read, next(self.parameters()).dtype)[0, :steps]

        def scores(vectors: Tensor) -> Tensor:
            outputs = self.model(vectors)
            return (outputs[:, -1] if self.job.shape.at_each_step else outputs).log_softmax(-1)

        with torch.no_grad():
            number = int(scores(inputs[None]).argmax()) if output is None else list(classes).index(output)

        @torch.no_grad()
        def without(units: Sequence[int]) -> float:
            kept = [step for step in range(steps) if step not in set(units)]
            if not kept:
                raise Fault("Taking out every unit leaves no input to read; keep at least one.")
            return float(scores(inputs[None, kept])[0, number])

        return Decision(
            self.job.steps(batch.read[0].cpu().numpy())[:steps],
            classes[number],
            inputs,
            lambda copies: scores(copies)[:, number],
            without,
            output=self.answers(batch)[0].answer if output is None else output,
            queries=(steps - 1,),
        )

    def sides(self, batch: SequenceBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        steps = self.job.steps(batch.read[0].cpu().numpy())
        return {TEXT: Words(steps, steps, range(len(steps)))}

    def extents(self, batch: SequenceBatch) -> dict[str, Tensor]:
        """Return the number of real steps: all, since sequences have one length."""
        return {TEXT: torch.full((batch.rows,), self.job.shape.length)}

    def quote(self, batch: SequenceBatch) -> str:
        steps = self.job.steps(batch.read[0].cpu().numpy())
        return f"the sequence {', '.join(steps[:QUOTED])} … of {len(steps)} steps"

    def facts(self) -> dict[str, Any]:
        shape = self.job.shape
        return {"steps": shape.length, "numbers a step": shape.depth, "outputs": shape.outputs}
