"""Find outputs for texts: from constraints in text to the searches over batches of tokens."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from regard.base.faults import Fault, faults_numbered
from regard.data.tokenisers.labels import is_unspaced
from regard.data.tokenisers.symbols import SILENT
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

if TYPE_CHECKING:  # for drafts and trees, which few ask for
    from regard.decoding.tree_form import Brackets, TreeForm
    from regard.verbs.translate.drafting import Drafting

SEARCH_TOKENS = 8192  # source tokens x rows of a sentence in one batch of a search
FIXED_BEAM_TOKENS = 16 * SEARCH_TOKENS  # the same with captured steps, on a GPU
MOST_SPELLINGS = 20  # spellings of a forbidden phrase to bar one after another before giving up


@dataclass(frozen=True)
class Constraints:
    """Constraints on the outputs."""

    prefixes: Sequence[str] = ()  # prefixes of outputs; none, or one for each text
    required: Sequence[Sequence[str]] = ()  # phrases that outputs must contain; none, or a list for each text
    forbidden: Sequence[str] = ()  # phrases that no output may contain
    allowed: Sequence[str] | None = None  # if given, outputs use only tokens that occur in these texts

    def __post_init__(self) -> None:
        lists = [self.prefixes, self.required, self.forbidden, self.allowed or (), *self.required]
        if any(isinstance(texts, str) for texts in lists):
            raise TypeError("constraints are lists of texts, and required ones a list for each text, not a single text")
        normalised = {
            "prefixes": _normal(self.prefixes),
            "required": [_normal(phrases) for phrases in self.required],
            "forbidden": _normal(self.forbidden),
            "allowed": None if self.allowed is None else _normal(self.allowed),
        }
        for name, value in normalised.items():
            object.__setattr__(self, name, value)

    def fields(self) -> dict[str, Any]:
        """Return them as request fields; None where there is no constraint."""
        return {
            "prefix": self.prefixes or None,
            "required": self.required or None,
            "forbidden": self.forbidden or None,
            "vocabulary": self.allowed,
        }


def _constraints(plan: Plan, pieces: Sequence[Piece]) -> Constraints:
    """Return the constraints of a plan and its pieces on the outputs."""
    return Constraints(
        [piece.prefix for piece in pieces] if plan.begins else (),
        [piece.required for piece in pieces] if plan.requires else (),
        plan.forbidden,
        plan.allowed,
    )


def _normal(texts: Sequence[str]) -> list[str]:
    """Normalise texts to NFC, as models write them."""
    return [unicodedata.normalize("NFC", text) for text in texts]


@torch.no_grad()
def find(
    tasks: Sequence[Translation],
    pieces: Sequence[Piece],
    plan: Plan,
    fusion: Fusion | None = None,
    drafting: "Drafting | None" = None,
) -> list[list[Hypothesis]]:
    """Return the outputs for each piece, best first or in the order drawn; several tasks form an ensemble.

    Pieces of similar length are searched together, as many as the memory allows, and the order is kept. Samples depend
    on the key of a piece. With a `drafting`, pieces are searched one by one. The search aims at required phrases only
    if outputs of a plain search lack them.
    """
    constraints = _constraints(plan, pieces)
    _check_constraints(plan, constraints)
    writer = writer_of(tasks, plan.options)
    search = _Search(tasks[0], fusion.writer(writer) if fusion else writer, plan, fusion, drafting, pieces, constraints)
    outputs: list[list[Hypothesis]] = [[Hypothesis([], [0.0], 0.0)] for _ in pieces]
    lengths = {number: len(row) + 1 for number, row in search.rows.items()}
    goals = search.goals

    def search_for(lengths: dict[int, int], has_goals: bool, budget: int) -> None:
        for numbers in batches_of(lengths, budget // plan.rows):
            for part in in_pieces(partial(search.outputs_by_number, has_goals), numbers, list_halves):
                for number, hypotheses in part.items():
                    outputs[number] = hypotheses

    search_for(lengths, False, FIXED_BEAM_TOKENS if search.captures is not None else SEARCH_TOKENS)
    lacking = {
        number: length
        for number, length in lengths.items()
        if goals and not all(goal.occurs_in(output.tokens) for output in outputs[number] for goal in goals[number])
    }
    search_for(lacking, True, SEARCH_TOKENS)
    for number in lengths if constraints.forbidden else ():
        outputs[number] = search.without_forbidden(outputs[number], number)
    return outputs


def _check_constraints(plan: Plan, constraints: Constraints) -> None:
    """Refuse constraints that no model can meet."""
    if any(constraints.required):
        refuse_unpromising(plan.options, plan.draws)
    required = [*constraints.prefixes, *(phrase for phrases in constraints.required for phrase in phrases)]
    for phrase in constraints.forbidden:
        if not phrase.strip():
            raise Fault("A forbidden phrase is empty; omit it.")
        if clash := next((text for text in required if span_of(phrase, text)), None):
            raise Fault(f"{phrase!r} is forbidden, but {clash!r}, which contains it, is required; omit one of them.")


def writer_of(tasks: Sequence[Translation], options: DecodingOptions) -> Stepwise:
    """Return the task that the searches drive, or several as an ensemble."""
    writers = [writer_for(task, options) for task in tasks]
    return writers[0] if len(writers) == 1 else Ensemble(writers)


@dataclass(frozen=True)
class _Search:
    """A search over batches of pieces, by their numbers."""

    task: Translation
    writer: Stepwise
    plan: Plan
    fusion: Fusion | None
    drafting: "Drafting | None"
    pieces: Sequence[Piece]
    asked: Constraints

    @cached_property
    def rows(self) -> dict[int, list[int]]:
        """The tokens of texts; texts without any token are left out."""
        texts = {number: piece.text for number, piece in enumerate(self.pieces) if piece.text.strip()}
        return {number: row for number, row in self.task.source_tokens(texts).items() if row}

    @cached_property
    def targets(self) -> list[Tokeniser]:
        """The target tokenisers of the pieces."""
        return [self.task.target_for(piece.text) for piece in self.pieces]

    @cached_property
    def goals(self) -> list[list[Wanted]]:
        """The phrases that outputs must contain, each once; none, or a list for each piece."""
        rows = zip(self.asked.required, self.targets, strict=bool(self.asked.required))
        return [[self._goal(phrase, target) for phrase in dict.fromkeys(phrases)] for phrases, target in rows]

    @cached_property
    def captures(self) -> CapturedSteps | None:
        """Captured steps to search with, if this plan and writer allow them."""
        plan = self.plan  # the first search bars nothing and aims at nothing
        plain = not (plan.begins or plan.draws) and plan.allowed is None and is_plain(plan.options)
        plain = plain and self.writer is self.task and self.drafting is None
        return captures_for(self.task) if plain else None

    def outputs_by_number(self, has_goals: bool, numbers: list[int]) -> dict[int, list[Hypothesis]]:
        """Return the outputs of one batch by number; with `has_goals`, the search aims at the required phrases."""
        with faults_numbered(numbers):
            return dict(zip(numbers, self._outputs(numbers, has_goals), strict=True))

    def _outputs(
        self, numbers: list[int], has_goals: bool, barred: Sequence[Sequence[int]] = ()
    ) -> list[list[Hypothesis]]:
        """Return the outputs of one batch, without any of the `barred` token sequences."""
        batch = self.task.read_tokens([self.rows[number] for number in numbers])
        options, fusion, keys = self.plan.options, self.fusion, [self.pieces[number].key for number in numbers]
        limits = self.task.limits(batch, options)
        demands = self._demands(numbers, has_goals, barred)
        if self.drafting is not None:
            pieces = [self.pieces[number] for number in numbers]
            return self.drafting.search(pieces, batch, limits, demands, self.plan.draws)
        if fusion is not None:
            limits = fusion.limits(limits, options)
            return fusion.part(self._search_plainly(batch, limits, keys, demands))
        if self.captures is not None and fits(options, demands):
            return fixed_beam_search(Reserving(self.task), batch, limits, options, self.captures)
        return self._search_plainly(batch, limits, keys, demands)

    def _search_plainly(
        self, batch: PairBatch, limits: Tensor, keys: Sequence[int], demands: Demands
    ) -> list[list[Hypothesis]]:
        """Search without captured steps, which works with any writer."""
        if self.plan.draws:
            return sample(self.writer, batch, limits, self.plan.options, keys, demands)
        return beam_search(self.writer, batch, limits, self.plan.options, demands)

    def _demands(self, numbers: list[int], has_goals: bool, barred: Sequence[Sequence[int]]) -> Demands:
        allowed = None
        if self.asked.allowed is not None:
            allowed = sorted({token for text in self.asked.allowed for token in self.task.target.encode(text)})
        with_prefix = numbers if self.asked.prefixes else ()
        prefixes = [
            target_tokens(self.task, self.asked.prefixes[number], "prefix", self.targets[number])
            for number in with_prefix
        ]
        goals = [self.goals[number] for number in numbers] if has_goals and self.goals else []
        return Demands(prefixes, goals, barred, allowed, self._form(numbers))

    def _form(self, numbers: list[int]) -> "TreeForm | None":
        """Return the form of the outputs for these pieces, if they are to be trees."""
        if self.plan.options.form == "text":
            return None
        from regard.decoding.tree_form import TreeForm

        return TreeForm(self._brackets, [len(self.pieces[number].text.split()) for number in numbers], self.task.end)

    @cached_property
    def _brackets(self) -> "Brackets":
        from regard.decoding.tree_form import brackets_of

        target = self.task.target
        return brackets_of(target.pieces(range(target.size)), [*SILENT, target.unknown])

    def _goal(self, phrase: str, target: Tokeniser) -> Wanted:
        if not phrase.strip():
            raise Fault("A required phrase is empty; omit it.")
        return search_goal(target_tokens(self.task, phrase, "phrase", target), target, self._joins_words)

    @cached_property
    def _joins_words(self) -> bool:
        """True if most tokens of letters are in a script without spaces, so that outputs are too."""
        pieces = (piece.lstrip("▁") for piece in self.task.target.pieces(range(self.task.target.size)))
        words = [piece for piece in pieces if piece[:1].isalpha()]
        return 2 * sum(map(is_unspaced, words)) > len(words)

    def without_forbidden(self, hypotheses: list[Hypothesis], number: int) -> list[Hypothesis]:
        """Return the outputs for one piece without forbidden phrases, however they are tokenised.

        A phrase can be split into tokens in several ways. So each spelling that was written is barred and the search
        repeated, until no output contains a forbidden phrase.
        """
        barred: list[list[int]] = []
        target, forbidden = self.targets[number], self.asked.forbidden
        while spellings := [
            spelling for hypothesis in hypotheses for spelling in _spellings(hypothesis.tokens, target, forbidden)
        ]:
            if len(barred) > MOST_SPELLINGS:
                phrases, excerpt = ", ".join(map(repr, forbidden)), self.pieces[number].text.strip()[:40]
                raise Fault(f"The model writes {phrases} in ever new ways for {excerpt!r}; forbid fewer phrases.")
            barred += [list(spelling) for spelling in dict.fromkeys(map(tuple, spellings))]
            (hypotheses,) = self._outputs([number], True, barred)
        return hypotheses


def _spellings(tokens: Sequence[int], target: Tokeniser, forbidden: Sequence[str]) -> Iterator[Sequence[int]]:
    """Yield the token runs of an output that write forbidden phrases, one for each phrase."""
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
    """Return the captured steps of a translator on a GPU, or None."""
    return captures_of(task) if task.device.type == "cuda" and can_reserve(task) else None


def batches_of(lengths: dict[int, int], budget: int) -> Iterator[list[int]]:
    """Yield the numbers of texts in groups of similar length; rows x longest stays within the budget."""
    group: list[int] = []
    for number in sorted(lengths, key=lambda number: (-lengths[number], number)):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def filling_batches(lengths: dict[int, int], budget: int) -> Iterator[list[int]]:
    """Yield groups of the sizes that captured steps have, so that none of their places stays empty."""
    numbers = sorted(lengths, key=lambda number: (-lengths[number], number))
    while numbers:
        most = max(1, budget // lengths[numbers[0]])
        size = most if len(numbers) <= most else round_down(most, FEWEST)
        yield numbers[:size]
        numbers = numbers[size:]
