"""Reach of trained models of long sequences: the gradient of the last loss by distance into the past."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from regard.base.faults import Fault
from regard.base.progress import ignore_remark, silent
from regard.loading import Loaded
from regard.seeing.lessons.gradients import DISTANCE, in_tens
from regard.tasks.sequences.batches import SequenceBatch
from regard.tasks.sequences.task import LongSequences
from regard.viewing.lessons import Lesson, LessonPanel, Line

EXAMPLES = 32  # whose gradients are averaged
NORM = "‖∂L / ∂x(T−d)‖"
_NEAR = 10  # steps that count as near


def distances_lesson(models: Sequence[Loaded]) -> Lesson:
    """The models beside each other, each over validation examples of its own."""
    lines = []
    for colour, model in enumerate(models):
        if not isinstance(model.task, LongSequences):
            raise Fault(f"{model.folder} reads no long sequences; for a seq2seq give --text as well.")
        with _examples(model) as batch:
            norms = input_gradients(model.task, batch)
        lines.append(Line(_name(model), list(enumerate(norms)), colour))
    panel = LessonPanel("By distance from the last step", DISTANCE, NORM, lines, describe_reach(lines))
    return Lesson("How far back the loss at the last step reaches", [panel])


def input_gradients(task: LongSequences, batch: SequenceBatch) -> list[float]:
    """‖∂L/∂x_{T−d}‖ for d = 0, 1, …, the mean over a batch; L is the loss of what is wanted at the last step alone."""
    exact = deepcopy(task).double().train()  # torch's layers learn in this mode only; of dropout there is none below
    for part in exact.modules():
        part.training = isinstance(part, torch.nn.RNNBase)
    read = exact.job.numbers(batch.read, torch.float64).requires_grad_()
    outputs, wanted = exact.model(read), batch.wanted
    if exact.job.shape.at_each_step:
        outputs, wanted = outputs[:, -1:], wanted[:, -1:]
    (found,) = torch.autograd.grad(exact.job.losses(outputs, wanted).sum(), read)
    return found.norm(dim=-1).mean(dim=0).flip(0).tolist()


def describe_reach(lines: Sequence[Line]) -> str:
    """Return a sentence on how much of the gradient is left halfway back."""
    told = []
    for line in lines:
        values = [value for _, value in line.points]
        half = len(values) // 2
        near, far = max(values[:_NEAR]), max(values[half:])
        told.append(f"{in_tens(far / near) if near else '–'} ({line.name})")
    return (
        f"The largest gradient by what was read in the first half of a sequence, as a share of the largest by the last "
        f"{_NEAR} steps: {', '.join(told)}. What has no gradient cannot be learnt from."
    )


def _name(model: Loaded) -> str:
    """The folder's name, or the cell of a model that lies in none."""
    return (
        model.folder.name if model.folder is not None else str(getattr(model.recipe.model, "cell", model.recipe.family))
    )


@contextmanager
def _examples(model: Loaded) -> Iterator[SequenceBatch]:
    """Validation examples; pictures are read from where the run prepared them, or anew."""
    with TemporaryDirectory(prefix="regard-") as aside:
        prepared = model.folder / "training" / "corpus" if model.folder is not None else Path(aside)
        place = prepared if prepared.is_dir() else Path(aside)
        data = type(model.task).prepare(model.recipe, place, silent, ignore_remark, None)
        read, wanted = next(data.batches("valid", EXAMPLES, 0, 0, 0))
        yield SequenceBatch(torch.from_numpy(read), torch.from_numpy(wanted))
