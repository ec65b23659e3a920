"""Capabilities of tasks. A task implements those that are true of it and no others.

The trainer, the searches, the evaluator and the viewer each ask for one or two of these; nobody inherits from them.
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
    """Data made ready for a task: it opens at once, and says what became of it."""

    @property
    def report(self) -> list[str]:
        """For people: what was read, and what was dropped and why."""

    def files(self) -> dict[str, bytes]:
        """Return its files for the model folder: tokenisers, names of labels, scaling."""


@runtime_checkable
class HoldsTexts(Prepared, Protocol):
    """Data of text: how much of it there is to learn from, and texts that are not learnt from, as people write them."""

    @property
    def amount(self) -> Amount: ...
    def unlearnt_texts(self) -> Iterable[str]: ...


@runtime_checkable
class Task(Protocol):
    """Every task: the data that it makes ready, and its batches; `batches` is a pure function of its arguments."""

    MEASURES: ClassVar[tuple[str, ...]]  # the names of what `measure` gives

    @classmethod
    def check(cls, recipe: Any, device: torch.device, folder: Path | None) -> None:
        """Refuse what would fail later; where data lies prepared in `folder`, its files need not be there."""

    @classmethod
    def prepare(
        cls, recipe: Any, folder: Path, progress: Progress, remark: Remark, start: Mapping[str, bytes] | None
    ) -> Prepared:
        """Make the data ready in `folder`, or open it; `start` holds the files of the model that a run starts from."""

    @classmethod
    def build(cls, recipe: Any, files: Mapping[str, bytes]) -> Self:
        """The task of a recipe, new or about to be given its weights, from what travels in the model folder."""

    def learn_from(self, prepared: Any, recipe: Any) -> None:
        """Take the batches from here."""

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterable[Any]: ...


@runtime_checkable
class Measures(Protocol):
    """Can be measured: each measure by name, of a batch."""

    def measure(self, batch: Any) -> dict[str, Measure]: ...


@runtime_checkable
class MeasuresRows(Task, Measures, Protocol):
    """Knows what each row of a batch adds to the sums of each measure (row, sum), so that models are compared by rows.

    The sums of all rows are those of the tally that `measure` gives.
    """

    def sums_of_rows(self, batch: Any) -> dict[str, Tensor]: ...


@runtime_checkable
class MeasuresParts(Protocol):
    """Can be measured part by part, such as the types of spans: the measures of each part that a batch has, by name."""

    def measure_parts(self, batch: Any) -> dict[str, dict[str, Measure]]: ...


@runtime_checkable
class Learns(Protocol):
    """Learns by gradient; an attribute `unit`, where it has one, names what its losses count, such as tokens."""

    def loss(self, batch: Any, carry: dict[str, Tensor] | None = None) -> Loss: ...


@runtime_checkable
class Stacked(Protocol):
    """Trains several members of a small model as one: every parameter has a leading axis `member`.

    The loss is the sum over the members, none of which has to do with another, and measures are given of each.
    """

    members: int


@runtime_checkable
class Sectional(Protocol):
    """A network whose weights need not all be whole at once: its `sections` can be sharded each by itself.

    With each come the methods, beside its call, by which a loss uses it; none of its weights is read otherwise, and all
    ranks use all sections equally often, in one order. A section that lies in another comes before it. Where
    `is_in_sections` is set they are sharded, and no kernel may read the weights of several.
    """

    is_in_sections: bool

    def sections(self) -> Iterable[tuple[torch.nn.Module, Sequence[str]]]: ...


@runtime_checkable
class Adapts(Protocol):
    """Changes how it goes on by what a validation found; whatever it decides lies in its buffers, as weights do.

    Gives whether the loss is another from here on, so that a jump of it is no explosion.
    """

    def adapt(self, step: int, measures: Mapping[str, Measure]) -> bool: ...


@runtime_checkable
class ChoosesMember(Protocol):
    """Answers by one of its members, which it chooses by what it learns from; what it chose lies in its buffers.

    It is asked to choose before every validation, so that what is measured and published is of the chosen one.
    """

    def choose_member(self) -> None: ...


@runtime_checkable
class Carries(Protocol):
    """Says how long what `loss` carries from batch to batch lasts: to the end of an epoch, or of the run."""

    carry_ends_with_epoch: bool


@runtime_checkable
class Counts(Protocol):
    """Learns in one pass of counting: `counts` is all that was counted so far, which a checkpoint holds.

    When everything is counted, `estimate` makes the model of it, whose tensors `weights` gives: their sizes are known
    only then. `load_weights` refuses tensors that do not belong together.
    """

    def count(self, batch: Any) -> None: ...
    def counts(self) -> dict[str, Tensor]: ...
    def resume_counts(self, tensors: dict[str, Tensor]) -> None: ...
    def estimate(self) -> None: ...
    def weights(self) -> dict[str, Tensor]: ...
    def load_weights(self, tensors: dict[str, Tensor]) -> None: ...


@runtime_checkable
class Updates(Protocol):
    """Learns by updates of its own, without torch's gradients: batch after batch, for some epochs.

    `update` learns from a batch at a learning rate of its own, both of which it gives back in a `Learnt`; `length` is
    how many batches an epoch has. `state` is all that a checkpoint holds of the model, of which `weights` are what
    people use. `load_weights` refuses tensors that do not belong together.
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
    """Holds its weights itself, and is no torch module."""

    def weights(self) -> dict[str, Tensor]: ...
    def load_weights(self, tensors: dict[str, Tensor]) -> None: ...


WhichVectors = Literal["centres", "contexts", "mean"]


@runtime_checkable
class Lexical(Protocol):
    """Has a vector for each of its words: as a centre (W), as a context of others (U), or the mean of both.

    `vector_of` gives that of a single word, also of one that it composes of parts, and None where it has none.
    """

    def word_vectors(self, which: WhichVectors = "centres") -> WordVectors: ...
    def vector_of(self, word: str, which: WhichVectors = "centres") -> np.ndarray | None: ...


@runtime_checkable
class Reads(Protocol):
    """Reads what people have: texts, prompts, the numbers of nodes, files of pictures."""

    def read(self, inputs: Sequence[Any]) -> Any: ...


@runtime_checkable
class Stepwise(Protocol):
    """Writes one token after another: `step` gives log-probabilities (row, token)."""

    begin: int
    end: int

    def start(self, batch: Any) -> State: ...
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]: ...


@runtime_checkable
class Writes(Protocol):
    """Knows how people read what it writes, and how long that may be."""

    def limits(self, batch: Any, options: Any) -> Tensor: ...
    def write(self, tokens: Sequence[int]) -> str: ...


@runtime_checkable
class Transcribes(Protocol):
    """Writes down what each sound of a batch says, by its best path or by a search in what was heard."""

    def transcripts(self, batch: Any, search: Callable[[Any], Any] | None = None) -> list[Transcript]: ...


@runtime_checkable
class Answers(Protocol):
    """Gives one answer per example, or one for each word of it."""

    def answers(self, batch: Any) -> Sequence[Answer | Tags]: ...


@runtime_checkable
class Captions(Protocol):
    """Writes a caption of each picture of a batch, token after token, searched for as its recipe says in `decoding`.

    `token_scores` gives how probable the tokens are that a batch holds, and shows whoever watches where it looked
    before each; `writing`, of a batch, gives the same pictures with other captions.
    """

    decoding: Any

    def token_scores(self, batch: Any) -> Tensor: ...


@runtime_checkable
class Speaks(Protocol):
    """Speaks each text of a batch; one that has not ended after so many seconds is cut.

    The more `rounds` phases are looked for, the nearer the sound comes to what was meant.
    """

    def speak(self, batch: Any, seconds: float | None, rounds: int) -> list[Spoken]: ...


@runtime_checkable
class Embeds(Protocol):
    """Gives the vectors of each text of a batch, in all its layers, on the CPU."""

    def embed(self, batch: Any) -> list[TextVectors]: ...


@runtime_checkable
class Follows(Protocol):
    """Reads one text, place by place; who listens to its recurrent layers hears what they are given."""

    def follow(self, text: str) -> Followed: ...


@runtime_checkable
class Labelled(Protocol):
    """Says what stands on the sides that its attention looks between, for a batch of a single input.

    `outputs` are what came of it: the tokens that were written, or the answers.
    """

    def sides(self, batch: Any, outputs: Sequence[Any]) -> dict[str, Side]: ...


@runtime_checkable
class Unfolds(Protocol):
    """Makes several inputs of one that asks for several things, to look at them together."""

    def unfold(self, given: str) -> list[str]: ...


@runtime_checkable
class AskedInText(Protocol):
    """Answers what is asked inside a text, such as its masks; a text that asks for nothing can still be read."""

    def asks(self, batch: Any) -> bool: ...
    def embed(self, batch: Any) -> "list[TextVectors]": ...


@runtime_checkable
class Reported(Protocol):
    """Has heads that can be reported on: how many places of each side are real, row by row."""

    def extents(self, batch: Any) -> dict[str, Tensor]: ...


@runtime_checkable
class Describes(Protocol):
    """Knows facts about itself, and what an input of some size costs."""

    def facts(self) -> dict[str, Any]: ...
    def cost(self, size: int) -> dict[str, int | float]: ...


class StepCost(NamedTuple):
    """Cost of one update of the weights: the tokens it has room for, and the multiplications of one forward pass."""

    tokens: int
    multiplications: float
    filled: float = 1.0  # the share of that room in which there is a token to learn from


@runtime_checkable
class Budgeted(Protocol):
    """Knows what a step of a recipe costs before any text is read, with a vocabulary as large as it may be."""

    @classmethod
    def step_cost(cls, recipe: Any) -> StepCost: ...


@runtime_checkable
class Quotes(Protocol):
    """Quotes the first example of a batch in a few words, so that people can find it in their data."""

    def quote(self, batch: Any) -> str: ...


@runtime_checkable
class Divisible(Protocol):
    """A batch that can be cut into smaller ones with the same rows."""

    @property
    def rows(self) -> int: ...
    def split(self, parts: int) -> Sequence["Divisible"]: ...


@runtime_checkable
class FixedShape(Protocol):
    """A batch whose pass is the same launches for all batches with the same shapes and the same room for a sentence.

    `count` is how many items its loss is summed over; `holding` gives the same batch with its tensors elsewhere in
    memory.
    """

    room: int

    @property
    def count(self) -> int: ...
    @property
    def tensors(self) -> Any: ...
    def holding(self, tensors: Any) -> "FixedShape": ...
