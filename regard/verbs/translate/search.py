"""Finding outputs for texts: from what people ask for, in text, to the searches, which know tokens and batches."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.base.faults import Fault, faults_numbered
from regard.data.tokenisers.labels import is_unspaced
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.combined import Ensemble
from regard.decoding.fixed_beam import FEWEST, fits, fixed_beam_search, round_down
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis, Wanted
from regard.decoding.phrases import refuse_unpromising
from regard.decoding.sampling import sample
from regard.decoding.step_graphs import CapturedSteps, captures_of
from regard.hardware.memory import in_pieces, list_halves
from regard.protocols import Stepwise
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.joining import writer_for
from regard.tasks.translation.lengths import target_tokens
from regard.tasks.translation.reserving import Reserving, can_reserve
from regard.tasks.translation.task import Translation
from regard.verbs.translate.fusion import Fusion
from regard.verbs.translate.phrasing import search_goal, span_of
from regard.verbs.translate.plan import Piece, Plan

SEARCH_TOKENS = 8192  # source tokens x rows of a sentence in one batch of a search
FIXED_BEAM_TOKENS = 16 * SEARCH_TOKENS  # the same where steps are captured, on a GPU
MOST_SPELLINGS = 20  # ways to spell a forbidden phrase that are barred one after the other, before giving up


@dataclass(frozen=True)
class Constraints:
    """What is asked of the outputs beside being likely."""

    prefixes: Sequence[str] = ()  # what each output begins with; none, or one for each text
    required: Sequence[Sequence[str]] = ()  # phrases that each output must have; none, or a list for each text
    forbidden: Sequence[str] = ()  # phrases that no output may have
    allowed: Sequence[str] | None = None  # if given, outputs are written with the tokens of these texts alone

    def __post_init__(self) -> None:
        lists = [self.prefixes, self.required, self.forbidden, self.allowed or (), *self.required]
        if any(isinstance(given, str) for given in lists):
            raise TypeError("constraints are lists of texts, and required ones a list for each text, not a text alone")
        normal = {
            "prefixes": _normal(self.prefixes),
            "required": [_normal(several) for several in self.required],
            "forbidden": _normal(self.forbidden),
            "allowed": None if self.allowed is None else _normal(self.allowed),
        }
        for name, value in normal.items():
            object.__setattr__(self, name, value)

    def fields(self) -> dict[str, Any]:
        """Return them as fields of a request; what is not asked is None."""
        return {
            "prefix": self.prefixes or None,
            "required": self.required or None,
            "forbidden": self.forbidden or None,
            "vocabulary": self.allowed,
        }

    def of(self, numbers: Sequence[int]) -> "Constraints":
        """The constraints for some of the texts."""
        return replace(
            self,
            prefixes=[self.prefixes[number] for number in numbers] if self.prefixes else (),
            required=[self.required[number] for number in numbers] if self.required else (),
        )


def _constraints(plan: Plan, pieces: Sequence[Piece]) -> Constraints:
    """Return what a plan and its pieces ask of the outputs."""
    return Constraints(
        [piece.prefix for piece in pieces] if plan.begins else (),
        [piece.required for piece in pieces] if plan.requires else (),
        plan.forbidden,
        plan.allowed,
    )


def _normal(texts: Sequence[str]) -> list[str]:
    """As models write them."""
    return [unicodedata.normalize("NFC", text) for text in texts]


class Source(NamedTuple):
    """A text that is read, its tokens, and the tokeniser of what is written for it."""

    text: str
    tokens: list[int]
    target: Tokeniser


@torch.no_grad()
def find(
    tasks: Sequence[Translation], pieces: Sequence[Piece], plan: Plan, fusion: Fusion | None = None
) -> list[list[Hypothesis]]:
    """Return the outputs for each piece, best first or in the order drawn; several tasks write together.

    Pieces of like length are searched together, as many as the memory allows, and the order is kept. What is drawn for
    a piece depends on its key. Phrases that must occur are gone for only where the outputs lack them that are found
    without asking.
    """
    texts, asked = [piece.text for piece in pieces], _constraints(plan, pieces)
    _check_constraints(plan, asked)
    task, writer = tasks[0], writer_of(tasks, plan.options)
    found: list[list[Hypothesis]] = [[Hypothesis([], [0.0], 0.0)] for _ in texts]
    cut = task.source_tokens({number: text for number, text in enumerate(texts) if text.strip()})
    # A text may be of nothing but what no token stands for.
    sources = {number: Source(texts[number], row, task.target_for(texts[number])) for number, row in cut.items() if row}
    seeker = _Seeker(task, fusion.writer(writer) if fusion else writer, plan, fusion)
    required = seeker.phrases_of(asked, [task.target_for(text) for text in texts])

    def search_together(constraints: Constraints, numbers: list[int]) -> dict[int, list[Hypothesis]]:
        part = [sources[number] for number in numbers], [pieces[number].key for number in numbers]
        with faults_numbered(numbers):
            outputs = seeker.seek(*part, constraints.of(numbers), ())
        return dict(zip(numbers, outputs, strict=True))

    def search_for(lengths: dict[int, int], constraints: Constraints, budget: int) -> None:
        for numbers in batches_of(lengths, budget // plan.rows):
            for part in in_pieces(partial(search_together, constraints), numbers, list_halves):
                for number, hypotheses in part.items():
                    found[number] = hypotheses

    lengths = {number: len(source.tokens) + 1 for number, source in sources.items()}
    unasked = replace(asked, required=())
    search_for(lengths, unasked, FIXED_BEAM_TOKENS if seeker.captures is not None else SEARCH_TOKENS)
    lacking = {
        number: length
        for number, length in lengths.items()
        if required and not all(each.occurs_in(one.tokens) for one in found[number] for each in required[number])
    }
    search_for(lacking, asked, SEARCH_TOKENS)
    for number, source in sources.items() if asked.forbidden else ():
        found[number] = seeker.without(found[number], source, pieces[number].key, asked.of([number]))
    return found


def _check_constraints(plan: Plan, constraints: Constraints) -> None:
    """Refuse what cannot be met, whatever the model."""
    if any(constraints.required):
        refuse_unpromising(plan.options, plan.draws)
    asked = [*constraints.prefixes, *(phrase for several in constraints.required for phrase in several)]
    for phrase in constraints.forbidden:
        if not phrase.strip():
            raise Fault("A phrase that must not occur is empty; leave it out.")
        if clash := next((text for text in asked if span_of(phrase, text)), None):
            raise Fault(
                f"{phrase!r} must not occur, but {clash!r} must, and it contains the former; give up one of them."
            )


def writer_of(tasks: Sequence[Translation], options: DecodingOptions) -> Stepwise:
    """Return what the searches drive: a task, or several as one."""
    writers = [writer_for(task, options) for task in tasks]
    return writers[0] if len(writers) == 1 else Ensemble(writers)


@dataclass(frozen=True)
class _Seeker:
    """One search over batch after batch."""

    task: Translation
    writer: Stepwise
    plan: Plan
    fusion: Fusion | None

    @cached_property
    def captures(self) -> CapturedSteps | None:
        """Captured steps to search with, if this plan and this writer can have them."""
        plan = self.plan  # at first nothing is barred or gone for
        plain = not (plan.begins or plan.draws) and plan.allowed is None and is_plain(plan.options)
        return captures_for(self.task) if plain and self.writer is self.task else None

    def seek(
        self,
        sources: Sequence[Source],
        lines: Sequence[int],
        constraints: Constraints,
        barred: Sequence[Sequence[int]],
    ) -> list[list[Hypothesis]]:
        """The outputs for one batch of sentences, in which none of the `barred` sequences of tokens is written."""
        batch = self.task.read_tokens([source.tokens for source in sources])
        options, fusion = self.plan.options, self.fusion
        limits = self.task.limits(batch, options)
        demands = self._demands(constraints, [source.target for source in sources], barred)
        if fusion is not None:
            limits = fusion.limits(limits, options)
            return fusion.part(self._search_plainly(batch, limits, lines, demands))
        if self.captures is not None and fits(options, demands):
            return fixed_beam_search(Reserving(self.task), batch, limits, options, self.captures)
        return self._search_plainly(batch, limits, lines, demands)

    def _search_plainly(
        self, batch: PairBatch, limits: Tensor, lines: Sequence[int], demands: Demands
    ) -> list[list[Hypothesis]]:
        """By steps that are not captured, which any writer can take."""
        if self.plan.draws:
            return sample(self.writer, batch, limits, self.plan.options, lines, demands)
        return beam_search(self.writer, batch, limits, self.plan.options, demands)

    def _demands(
        self, constraints: Constraints, targets: Sequence[Tokeniser], barred: Sequence[Sequence[int]]
    ) -> Demands:
        allowed = None
        if constraints.allowed is not None:
            allowed = sorted({token for text in constraints.allowed for token in self.task.target.encode(text)})
        given = zip(constraints.prefixes, targets, strict=bool(constraints.prefixes))
        prefixes = [target_tokens(self.task, prefix, "prefix", target) for prefix, target in given]
        return Demands(prefixes, self.phrases_of(constraints, targets), barred, allowed)

    def phrases_of(self, constraints: Constraints, targets: Sequence[Tokeniser]) -> list[list[Wanted]]:
        """The phrases that outputs must have, each once, by the tokenisers of these outputs."""
        given = zip(constraints.required, targets, strict=bool(constraints.required))
        return [[self._goal(phrase, target) for phrase in dict.fromkeys(several)] for several, target in given]

    def _goal(self, phrase: str, target: Tokeniser) -> Wanted:
        if not phrase.strip():
            raise Fault("A phrase that must occur is empty; leave it out.")
        return search_goal(target_tokens(self.task, phrase, "phrase", target), target, self._joins_words)

    @cached_property
    def _joins_words(self) -> bool:
        """Whether outputs are in a script without spaces, as most tokens of letters are then."""
        pieces = (piece.lstrip("▁") for piece in self.task.target.pieces(range(self.task.target.size)))
        written = [piece for piece in pieces if piece[:1].isalpha()]
        return 2 * sum(map(is_unspaced, written)) > len(written)

    def without(self, found: list[Hypothesis], source: Source, line: int, constraints: Constraints) -> list[Hypothesis]:
        """The outputs for one sentence, without the forbidden phrases however they are spelled.

        A phrase can be cut into tokens in more ways than one. So a spelling is barred when it has been written, and the
        search made again, till no output has a forbidden phrase.
        """
        barred: list[list[int]] = []
        while spellings := [each for one in found for each in _spellings(one.tokens, source.target, constraints)]:
            if len(barred) > MOST_SPELLINGS:
                phrases = ", ".join(map(repr, constraints.forbidden))
                about = source.text.strip()[:40]
                raise Fault(f"The model writes {phrases} in one way after another for {about!r}; ask for less.")
            barred += [list(each) for each in dict.fromkeys(map(tuple, spellings))]
            (found,) = self.seek([source], [line], constraints, barred)
        return found


def _spellings(tokens: Sequence[int], target: Tokeniser, constraints: Constraints) -> Iterator[Sequence[int]]:
    """The tokens that write forbidden phrases in an output, a run for each phrase that it has."""
    text = target.decode(tokens)
    for phrase in constraints.forbidden:
        if span := span_of(phrase, text):
            last = next(n for n in range(len(tokens) + 1) if len(target.decode(tokens[:n])) >= span[1])
            starts = range(last - 1, -1, -1)
            first = next((n for n in starts if phrase in target.decode(tokens[n:last])), 0)
            yield tokens[first:last]


def is_plain(options: DecodingOptions) -> bool:
    """Whether a search by these options alone can be captured."""
    return fits(options, Demands())


def captures_for(task: Translation) -> CapturedSteps | None:
    """The captured steps of a translator on a GPU."""
    return captures_of(task) if task.device.type == "cuda" and can_reserve(task) else None


def batches_of(lengths: dict[int, int], budget: int) -> Iterator[list[int]]:
    """Numbers of texts in groups of like length; rows x longest stays within the budget."""
    group: list[int] = []
    for number in sorted(lengths, key=lambda number: (-lengths[number], number)):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def filling_batches(lengths: dict[int, int], budget: int) -> Iterator[list[int]]:
    """The same in groups of the sizes that captured steps are made for, so that none of their places stays empty."""
    numbers = sorted(lengths, key=lambda number: (-lengths[number], number))
    while numbers:
        most = max(1, budget // lengths[numbers[0]])
        size = most if len(numbers) <= most else round_down(most, FEWEST)
        yield numbers[:size]
        numbers = numbers[size:]
