"""Finding outputs for texts: from what people ask for, in text, to the searches, which know tokens and batches."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

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
    """Constraints on the outputs."""

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


@torch.no_grad()
def find(
    tasks: Sequence[Translation], pieces: Sequence[Piece], plan: Plan, fusion: Fusion | None = None
) -> list[list[Hypothesis]]:
    """Return the outputs for each piece, best first or in the order drawn; several tasks write together.

    Pieces of like length are searched together, as many as the memory allows, and the order is kept. What is drawn for
    a piece depends on its key. Phrases that must occur are gone for only where the outputs lack them that are found
    without asking.
    """
    asked = _constraints(plan, pieces)
    _check_constraints(plan, asked)
    writer = writer_of(tasks, plan.options)
    search = _Search(tasks[0], fusion.writer(writer) if fusion else writer, plan, fusion, pieces, asked)
    found: list[list[Hypothesis]] = [[Hypothesis([], [0.0], 0.0)] for _ in pieces]
    lengths = {number: len(row) + 1 for number, row in search.rows.items()}
    goals = search.goals

    def search_for(lengths: dict[int, int], has_goals: bool, budget: int) -> None:
        for numbers in batches_of(lengths, budget // plan.rows):
            for part in in_pieces(partial(search.outputs_by_number, has_goals), numbers, list_halves):
                for number, hypotheses in part.items():
                    found[number] = hypotheses

    search_for(lengths, False, FIXED_BEAM_TOKENS if search.captures is not None else SEARCH_TOKENS)
    lacking = {
        number: length
        for number, length in lengths.items()
        if goals and not all(goal.occurs_in(one.tokens) for one in found[number] for goal in goals[number])
    }
    search_for(lacking, True, SEARCH_TOKENS)
    for number in lengths if asked.forbidden else ():
        found[number] = search.without_forbidden(found[number], number)
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
class _Search:
    """One search over batch after batch of pieces, by their numbers."""

    task: Translation
    writer: Stepwise
    plan: Plan
    fusion: Fusion | None
    pieces: Sequence[Piece]
    asked: Constraints

    @cached_property
    def rows(self) -> dict[int, list[int]]:
        """The tokens of texts; one may be of nothing but what no token stands for, and is left out."""
        written = {number: piece.text for number, piece in enumerate(self.pieces) if piece.text.strip()}
        return {number: row for number, row in self.task.source_tokens(written).items() if row}

    @cached_property
    def targets(self) -> list[Tokeniser]:
        """The tokenisers of what is written for the pieces."""
        return [self.task.target_for(piece.text) for piece in self.pieces]

    @cached_property
    def goals(self) -> list[list[Wanted]]:
        """The phrases that outputs must have, each once; none, or a list for each piece."""
        given = zip(self.asked.required, self.targets, strict=bool(self.asked.required))
        return [[self._goal(phrase, target) for phrase in dict.fromkeys(several)] for several, target in given]

    @cached_property
    def captures(self) -> CapturedSteps | None:
        """Captured steps to search with, if this plan and this writer can have them."""
        plan = self.plan  # at first nothing is barred or gone for
        plain = not (plan.begins or plan.draws) and plan.allowed is None and is_plain(plan.options)
        return captures_for(self.task) if plain and self.writer is self.task else None

    def outputs_by_number(self, has_goals: bool, numbers: list[int]) -> dict[int, list[Hypothesis]]:
        """Search for the outputs of one batch, for the phrases that they must have too if it `has_goals`."""
        with faults_numbered(numbers):
            return dict(zip(numbers, self._outputs(numbers, has_goals), strict=True))

    def _outputs(
        self, numbers: list[int], has_goals: bool, barred: Sequence[Sequence[int]] = ()
    ) -> list[list[Hypothesis]]:
        """Return the outputs of one batch, in which none of the `barred` sequences of tokens is written."""
        batch = self.task.read_tokens([self.rows[number] for number in numbers])
        options, fusion, keys = self.plan.options, self.fusion, [self.pieces[number].key for number in numbers]
        limits = self.task.limits(batch, options)
        demands = self._demands(numbers, has_goals, barred)
        if fusion is not None:
            limits = fusion.limits(limits, options)
            return fusion.part(self._search_plainly(batch, limits, keys, demands))
        if self.captures is not None and fits(options, demands):
            return fixed_beam_search(Reserving(self.task), batch, limits, options, self.captures)
        return self._search_plainly(batch, limits, keys, demands)

    def _search_plainly(
        self, batch: PairBatch, limits: Tensor, keys: Sequence[int], demands: Demands
    ) -> list[list[Hypothesis]]:
        """Search by steps that are not captured, which any writer can take."""
        if self.plan.draws:
            return sample(self.writer, batch, limits, self.plan.options, keys, demands)
        return beam_search(self.writer, batch, limits, self.plan.options, demands)

    def _demands(self, numbers: list[int], has_goals: bool, barred: Sequence[Sequence[int]]) -> Demands:
        allowed = None
        if self.asked.allowed is not None:
            allowed = sorted({token for text in self.asked.allowed for token in self.task.target.encode(text)})
        begun = numbers if self.asked.prefixes else ()
        prefixes = [
            target_tokens(self.task, self.asked.prefixes[number], "prefix", self.targets[number]) for number in begun
        ]
        goals = [self.goals[number] for number in numbers] if has_goals and self.goals else []
        return Demands(prefixes, goals, barred, allowed)

    def _goal(self, phrase: str, target: Tokeniser) -> Wanted:
        if not phrase.strip():
            raise Fault("A phrase that must occur is empty; leave it out.")
        return search_goal(target_tokens(self.task, phrase, "phrase", target), target, self._joins_words)

    @cached_property
    def _joins_words(self) -> bool:
        """True if outputs are in a script without spaces, as most tokens of letters are then."""
        pieces = (piece.lstrip("▁") for piece in self.task.target.pieces(range(self.task.target.size)))
        written = [piece for piece in pieces if piece[:1].isalpha()]
        return 2 * sum(map(is_unspaced, written)) > len(written)

    def without_forbidden(self, found: list[Hypothesis], number: int) -> list[Hypothesis]:
        """Return the outputs for one piece, without the forbidden phrases however they are spelled.

        A phrase can be cut into tokens in more ways than one. So a spelling is barred when it has been written, and the
        search made again, till no output has a forbidden phrase.
        """
        barred: list[list[int]] = []
        target, forbidden = self.targets[number], self.asked.forbidden
        while spellings := [each for one in found for each in _spellings(one.tokens, target, forbidden)]:
            if len(barred) > MOST_SPELLINGS:
                phrases, about = ", ".join(map(repr, forbidden)), self.pieces[number].text.strip()[:40]
                raise Fault(f"The model writes {phrases} in one way after another for {about!r}; ask for less.")
            barred += [list(each) for each in dict.fromkeys(map(tuple, spellings))]
            (found,) = self._outputs([number], True, barred)
        return found


def _spellings(tokens: Sequence[int], target: Tokeniser, forbidden: Sequence[str]) -> Iterator[Sequence[int]]:
    """Yield the tokens that write forbidden phrases in an output, a run for each phrase that it has."""
    text = target.decode(tokens)
    for phrase in forbidden:
        if span := span_of(phrase, text):
            last = next(n for n in range(len(tokens) + 1) if len(target.decode(tokens[:n])) >= span[1])
            starts = range(last - 1, -1, -1)
            first = next((n for n in starts if phrase in target.decode(tokens[n:last])), 0)
            yield tokens[first:last]


def is_plain(options: DecodingOptions) -> bool:
    """Return True if a search with these options can be captured."""
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
    """Yield groups of the sizes that captured steps are made for, so that none of their places stays empty."""
    numbers = sorted(lengths, key=lambda number: (-lengths[number], number))
    while numbers:
        most = max(1, budget // lengths[numbers[0]])
        size = most if len(numbers) <= most else round_down(most, FEWEST)
        yield numbers[:size]
        numbers = numbers[size:]
