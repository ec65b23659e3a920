"""Reach of trained sequence models: the gradient of the last loss by distance into the past."""

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

EXAMPLES = 32  # number of examples whose gradients are averaged
NORM = "‖∂L / ∂x(T−d)‖"
_NEAR = 10  # steps that count as near


def distances_lesson(models: Sequence[Loaded]) -> Lesson:
    """Return a lesson that compares models, each on its own validation examples."""
    lines = []
    for colour, (model, name) in enumerate(zip(models, _names(models), strict=True)):
        if not isinstance(model.task, LongSequences):
            raise Fault(f"{model.folder} does not read long sequences; for a seq2seq, give --text as well.")
        with _examples(model) as batch:
            norms = input_gradients(model.task, batch)
        lines.append(Line(name, list(enumerate(norms)), colour))
    panel = LessonPanel("By distance from the last step", DISTANCE, NORM, lines, describe_reach(lines))
    return Lesson("How far back the loss at the last step reaches", [panel])


def input_gradients(task: LongSequences, batch: SequenceBatch) -> list[float]:
    """Return ‖∂L/∂x_{T−d}‖ for d = 0, 1, …, averaged over a batch; L is the loss at the last step only."""
    exact = (
        deepcopy(task).double().train()
    )  # torch's recurrent layers need this mode for gradients; dropout stays off below
    for part in exact.modules():
        part.training = isinstance(part, torch.nn.RNNBase)
    read = exact.job.numbers(batch.read, torch.float64).requires_grad_()
    outputs, expected = exact.model(read), batch.wanted
    if exact.job.shape.at_each_step:
        outputs, expected = outputs[:, -1:], expected[:, -1:]
    (gradients,) = torch.autograd.grad(exact.job.losses(outputs, expected).sum(), read)
    return gradients.norm(dim=-1).mean(dim=0).flip(0).tolist()


def describe_reach(lines: Sequence[Line]) -> str:
    """Return a sentence on how much of the gradient remains in the first half."""
    parts = []
    for line in lines:
        values = [value for _, value in line.points]
        half = len(values) // 2
        near, far = max(values[:_NEAR]), max(values[half:])
        parts.append(f"{in_tens(far / near) if near else '–'} ({line.name})")
    return (
        f"The largest gradient for inputs in the first half of a sequence, as a share of the largest for the last "
        f"{_NEAR} steps: {', '.join(parts)}. Inputs without a gradient cannot be learnt from."
    )


def _names(models: Sequence[Loaded]) -> list[str]:
    """Return the name of each model's folder, with the folders above it if names are equal, as in gru/seed-1."""
    names: list[str] = []
    for depth in range(1, 1 + max((len(model.folder.parts) for model in models if model.folder), default=1)):
        names = [_name(model, depth) for model in models]
        if len({*names}) == len(names):
            break
    return names


def _name(model: Loaded, depth: int) -> str:
    """Return the last parts of the model's folder, this many; or its cell if it has none."""
    if model.folder is None:
        return str(getattr(model.recipe.model, "cell", model.recipe.family))
    return "/".join(model.folder.parts[-depth:])


@contextmanager
def _examples(model: Loaded) -> Iterator[SequenceBatch]:
    """Yield validation examples; pictures come from the run's prepared data, or are prepared again."""
    with TemporaryDirectory(prefix="regard-") as temporary:
        prepared = model.folder / "training" / "corpus" if model.folder is not None else Path(temporary)
        place = prepared if prepared.is_dir() else Path(temporary)
        data = type(model.task).prepare(model.recipe, place, silent, ignore_remark, None)
        read, expected = next(data.batches("valid", EXAMPLES, 0, 0, 0))
        yield SequenceBatch(torch.from_numpy(read), torch.from_numpy(expected))
