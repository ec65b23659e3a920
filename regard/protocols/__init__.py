"""Capabilities of tasks. A task implements those that apply to it and no others.

The trainer, the searches, the evaluator and the viewer each need one or two of these; no class inherits from them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from regard.answers import Answer as Answer
from regard.answers import Caption as Caption
from regard.answers import Followed as Followed
from regard.answers import SaidSymbol as SaidSymbol
from regard.answers import Spoken as Spoken
from regard.answers import StoryAnswer as StoryAnswer
from regard.answers import Tags as Tags
from regard.answers import TextVectors as TextVectors
from regard.answers import Transcript as Transcript
from regard.base.progress import Progress, Remark
from regard.data.examples import Amount
from regard.data.vectors.word_vectors import WordVectors
from regard.measures import Better as Better
from regard.measures import Learnt as Learnt
from regard.measures import Loss as Loss
from regard.measures import Measure as Measure
from regard.measures import Tally as Tally
from regard.measures import mean as mean
from regard.measures import perplexity as perplexity
from regard.protocols.beginning import Begins as Begins
from regard.protocols.beginning import Outlines as Outlines
from regard.protocols.beginning import Samples as Samples
from regard.protocols.beginning import Settles as Settles
from regard.protocols.deciding import Decides as Decides
from regard.protocols.deciding import Decision as Decision
from regard.protocols.drawing import Draws as Draws
from regard.protocols.drawing import Paints as Paints
from regard.protocols.drawing import Redraws as Redraws
from regard.protocols.drawing import Sketches as Sketches
from regard.states import State as State
from regard.states import map_tree as map_tree
from regard.viewing.drawings import Drawn as Drawn
from regard.viewing.drawings import SketchRequest as SketchRequest
from regard.viewing.sides import Side


class Prepared(Protocol):
    """Data prepared for a task: it opens quickly, and reports what was read."""

    @property
    def report(self) -> list[str]:
        """For people: what was read, what was dropped, and why."""

    def files(self) -> dict[str, bytes]:
        """Return its files for the model folder: tokenisers, label names, scaling."""


@runtime_checkable
class HoldsTexts(Prepared, Protocol):
    """Text data: how much there is to learn from, and texts that are not learnt from, as people write them."""

    @property
    def amount(self) -> Amount: ...
    def unlearnt_texts(self) -> Iterable[str]: ...


@runtime_checkable
class Task(Protocol):
    """Every task: the data it prepares, and its batches; `batches` is a pure function of its arguments."""

    MEASURES: ClassVar[tuple[str, ...]]  # the names of the measures that `measure` returns

    @classmethod
    def check(cls, recipe: Any, device: torch.device, folder: Path | None) -> None:
        """Refuse what would fail later; if data is prepared in `folder`, its source files are not needed."""

    @classmethod
    def prepare(
        cls, recipe: Any, folder: Path, progress: Progress, remark: Remark, start: Mapping[str, bytes] | None
    ) -> Prepared:
        """Prepare the data in `folder`, or open it; `start` holds the files of the model that a run starts from."""

    @classmethod
    def build(cls, recipe: Any, files: Mapping[str, bytes]) -> Self:
        """Return the task of a recipe, before its weights are set, from the files in the model folder."""

    def learn_from(self, prepared: Any, recipe: Any) -> None:
        """Use this data for batches."""

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterable[Any]: ...


@runtime_checkable
class Measures(Protocol):
    """Can be measured: returns the measures of a batch by name."""

    def measure(self, batch: Any) -> dict[str, Measure]: ...


@runtime_checkable
class MeasuresRows(Task, Measures, Protocol):
    """Knows what each row of a batch adds to the sums of each measure (row, sum), to compare models row by row.

    The sums over all rows are those of the tally that `measure` returns.
    """

    def sums_of_rows(self, batch: Any) -> dict[str, Tensor]: ...


@runtime_checkable
class MeasuresParts(Protocol):
    """Can be measured by parts, such as span types: returns the measures of each part in a batch, by name."""

    def measure_parts(self, batch: Any) -> dict[str, dict[str, Measure]]: ...


@runtime_checkable
class Learns(Protocol):
    """Learns by gradient; an attribute `unit`, if it has one, names what its losses count, such as tokens."""

    def loss(self, batch: Any, carry: dict[str, Tensor] | None = None) -> Loss: ...


@runtime_checkable
class Stacked(Protocol):
    """Trains several members of a small model as one: every parameter has a leading axis `member`.

    The loss is the sum over the members, which are independent, and measures are given for each.
    """

    members: int


@runtime_checkable
class Sectional(Protocol):
    """A network whose weights need not all be whole at once: its `sections` can be sharded separately.

    Each section comes with the methods, besides its call, through which a loss uses it. Its weights are not read in any
    other way, and all ranks use all sections equally often, in the same order. A section inside another comes before
    it. If `is_in_sections` is set they are sharded, and no kernel may read the weights of several.
    """

    is_in_sections: bool

    def sections(self) -> Iterable[tuple[torch.nn.Module, Sequence[str]]]: ...


@runtime_checkable
class Adapts(Protocol):
    """Adapts to what a validation found; its decisions are stored in its buffers, like weights.

    Returns True if the loss changes from here on, so that a jump is not taken for an explosion.
    """

    def adapt(self, step: int, measures: Mapping[str, Measure]) -> bool: ...


@runtime_checkable
class ChoosesMember(Protocol):
    """Answers with one of its members, chosen by what it learns from; the choice is stored in its buffers.

    It chooses before every validation, so that the chosen member is the one measured and published.
    """

    def choose_member(self) -> None: ...


@runtime_checkable
class Carries(Protocol):
    """Tells whether the carry of `loss` lasts from batch to batch until the end of the epoch, or of the run."""

    carry_ends_with_epoch: bool


@runtime_checkable
class Counts(Protocol):
    """Learns by counting in one pass: `counts` is everything counted so far, which a checkpoint stores.

    When everything is counted, `estimate` makes the model, whose tensors `weights` returns: their sizes are known only
    then. `load_weights` refuses tensors that do not belong together.
    """

    def count(self, batch: Any) -> None: ...
    def counts(self) -> dict[str, Tensor]: ...
    def resume_counts(self, tensors: dict[str, Tensor]) -> None: ...
    def estimate(self) -> None: ...
    def weights(self) -> dict[str, Tensor]: ...
    def load_weights(self, tensors: dict[str, Tensor]) -> None: ...


@runtime_checkable
class Updates(Protocol):
    """Learns by its own updates, without torch's gradients: batch after batch, for several epochs.

    `update` learns from a batch and returns the loss and its learning rate in a `Learnt`; `length` is the number of
    batches in an epoch. `state` is everything that a checkpoint stores of the model; `weights` are the part that people
    use. `load_weights` refuses tensors that do not belong together.
    """

    unit: str  # what it counts, such as words

    def length(self) -> int: ...
    def update(self, batch: Any) -> Learnt: ...
    def state(self) -> dict[str, Tensor]: ...
    def resume_state(self, tensors: dict[str, Tensor]) -> None: ...
    def weights(self) -> dict[str, Tensor]: ...
    def load_weights(self, tensors: dict[str, Tensor]) -> None: ...


@runtime_checkable
class OwnWeights(Protocol):
    """Holds its weights itself and is not a torch module."""

    def weights(self) -> dict[str, Tensor]: ...
    def load_weights(self, tensors: dict[str, Tensor]) -> None: ...


WhichVectors = Literal["centres", "contexts", "mean"]


@runtime_checkable
class Lexical(Protocol):
    """Has a vector for each of its words: as a centre (W), as a context of others (U), or the mean of both.

    `vector_of` returns that of a single word, which may be composed of parts, or None.
    """

    def word_vectors(self, which: WhichVectors = "centres") -> WordVectors: ...
    def vector_of(self, word: str, which: WhichVectors = "centres") -> np.ndarray | None: ...


@runtime_checkable
class Reads(Protocol):
    """Reads what people have: texts, prompts, node numbers, picture files."""

    def read(self, inputs: Sequence[Any]) -> Any: ...


@runtime_checkable
class Stepwise(Protocol):
    """Writes one token after another: `step` returns log-probabilities (row, token)."""

    begin: int
    end: int

    def start(self, batch: Any) -> State: ...
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]: ...


@runtime_checkable
class Writes(Protocol):
    """Turns its output tokens into text, and knows how long outputs may be."""

    def limits(self, batch: Any, options: Any) -> Tensor: ...
    def write(self, tokens: Sequence[int]) -> str: ...


@runtime_checkable
class Transcribes(Protocol):
    """Transcribes each sound of a batch, by its best path or by a search over its encoding."""

    def transcripts(self, batch: Any, search: Callable[[Any], Any] | None = None) -> list[Transcript]: ...


@runtime_checkable
class Answers(Protocol):
    """Gives one answer per example, or one for each of its words."""

    def answers(self, batch: Any) -> Sequence[Answer | Tags]: ...


@runtime_checkable
class Captions(Protocol):
    """Writes a caption for each picture of a batch, token by token, searched as its recipe says in `decoding`.

    `token_scores` returns the log-probabilities of a batch's tokens, and shows watchers the attention before each;
    `writing`, of a batch, returns the same pictures with other captions.
    """

    decoding: Any

    def token_scores(self, batch: Any) -> Tensor: ...


@runtime_checkable
class Speaks(Protocol):
    """Speaks each text of a batch; one that has not ended after `seconds` is cut.

    More `rounds` of phase estimation bring the sound closer to its spectrogram.
    """

    def speak(self, batch: Any, seconds: float | None, rounds: int) -> list[Spoken]: ...


@runtime_checkable
class Embeds(Protocol):
    """Returns the vectors of each text of a batch, in all its layers, on the CPU."""

    def embed(self, batch: Any) -> list[TextVectors]: ...


@runtime_checkable
class Follows(Protocol):
    """Reads one text, place by place; listeners see the inputs of its recurrent layers."""

    def follow(self, text: str) -> Followed: ...


@runtime_checkable
class Labelled(Protocol):
    """Labels the sides between which its attention looks, for a batch with a single input.

    `outputs` are its results: the tokens that were written, or the answers.
    """

    def sides(self, batch: Any, outputs: Sequence[Any]) -> dict[str, Side]: ...


@runtime_checkable
class Unfolds(Protocol):
    """Splits an input that asks several things into several inputs, to look at them together."""

    def unfold(self, given: str) -> list[str]: ...


@runtime_checkable
class AskedInText(Protocol):
    """Answers questions inside a text, such as its masks; a text without any can still be read."""

    def asks(self, batch: Any) -> bool: ...
    def embed(self, batch: Any) -> "list[TextVectors]": ...


@runtime_checkable
class Reported(Protocol):
    """Has heads to report on: returns how many places of each side are real, row by row."""

    def extents(self, batch: Any) -> dict[str, Tensor]: ...


@runtime_checkable
class Describes(Protocol):
    """Knows facts about itself, and the cost of an input of some size."""

    def facts(self) -> dict[str, Any]: ...
    def cost(self, size: int) -> dict[str, int | float]: ...


class StepCost(NamedTuple):
    """Cost of one update: the tokens that fit into it, and the multiplications of one forward pass."""

    tokens: int
    multiplications: float
    filled: float = 1.0  # share of that room with a token to learn from


@runtime_checkable
class Budgeted(Protocol):
    """Knows the cost of a recipe's step before any text is read, for the largest possible vocabulary."""

    @classmethod
    def step_cost(cls, recipe: Any) -> StepCost: ...


@runtime_checkable
class Quotes(Protocol):
    """Quotes the first example of a batch in a few words, so that people can find it in their data."""

    def quote(self, batch: Any) -> str: ...


@runtime_checkable
class Divisible(Protocol):
    """A batch that can be split into smaller ones with the same rows."""

    @property
    def rows(self) -> int: ...
    def split(self, parts: int) -> Sequence["Divisible"]: ...


@runtime_checkable
class FixedShape(Protocol):
    """A batch whose pass launches the same work for all batches with the same shapes and room per sentence.

    `count` is the number of items its loss is summed over; `holding` returns the batch with its tensors elsewhere in
    memory.
    """

    room: int

    @property
    def count(self) -> int: ...
    @property
    def tensors(self) -> Any: ...
    def holding(self, tensors: Any) -> "FixedShape": ...
