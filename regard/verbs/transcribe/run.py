"""Transcribe sounds: by the best path, or by a search over prefixes, optionally with a language model."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from regard.attention.watch import count_gazes, is_watched
from regard.base.faults import Fault
from regard.base.requests.fields import Held
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.prefix_beam import NextLabels, Prefix, prefix_beam
from regard.loading import Loaded
from regard.protocols import State, Stepwise, Transcript
from regard.tasks.language.batches import Prompts
from regard.tasks.transcription.label_steps import LabelFinder, LabelSteps
from regard.verbs.place_names import name_rows
from regard.verbs.transcribe.request import FUSE_WEIGHT, FUSED_BEAM, TranscribeRequest

if TYPE_CHECKING:
    from regard.data.tokenisers.tokeniser import Tokeniser

AT_ONCE = 16  # sounds in one batch
MOST_PREFIXES = 1024  # that a search keeps
WIDEST_BEAM = 64  # for a search label by label


@dataclass(frozen=True)
class LabelSearch:
    """Search for a transcript: the best path, or a beam of prefixes with an optional language model."""

    beam: int | None = None
    language_model: NextLabels | None = None
    weight: float = FUSE_WEIGHT

    def __post_init__(self) -> None:
        if self.beam is not None and not 1 <= self.beam <= MOST_PREFIXES:
            raise Fault(f"The beam is {self.beam}; a search keeps 1 to {MOST_PREFIXES:,} prefixes.")

    @property
    def prefixes(self) -> int | None:
        """Number of prefixes to keep, if any."""
        return self.beam or (None if self.language_model is None else FUSED_BEAM)


def run(model: Loaded, request: TranscribeRequest) -> Iterator[Transcript]:
    """Return the transcripts for a request, whose language model is already loaded."""
    sounds, search = [sound.content for sound in request.sounds], LabelSearch(request.beam)
    if isinstance(request.fuse, Held):
        language_model = request.fuse.content
        name = str(language_model.folder or "the model to fuse with")
        search = language_search(model, language_model, request.fuse_weight, request.beam, name)
    return transcribe_each(model.task, sounds, search)


def transcribe_each(
    task: Any, sounds: Iterable[str | Path | bytes], search: LabelSearch | None = None
) -> Iterator[Transcript]:
    """Yield the transcripts of sound files in order, as soon as each batch is done."""
    waiting = iter(sounds)
    while batch := list(islice(waiting, AT_ONCE)):
        since = count_gazes()
        frames = task.read(batch)
        transcripts = task.transcripts(frames, _finder(task, search or LabelSearch()))
        if is_watched():
            name_rows(
                since, [task.sides(frames.of_rows([row]), [transcript]) for row, transcript in enumerate(transcripts)]
            )
        yield from transcripts


def _finder(task: Any, search: LabelSearch) -> LabelFinder | None:
    """Return the function that finds the best labelling of each sound; None if the best path is enough."""
    if search.prefixes is None:
        return None
    find = _SEARCHES[task.model.SEARCHED_BY]
    return partial(find, task, beam=search.prefixes, search=search)


def _search_frames(task: Any, heard: Any, beam: int, search: LabelSearch) -> list[Prefix]:
    """Search frame by frame over prefixes, each with all its alignments."""
    return [
        prefix_beam(row[:count].tolist(), beam, search.language_model, search.weight)[0].labels
        for row, count in zip(heard.frames.double().cpu(), heard.counts.tolist(), strict=True)
    ]


def _search_labels(task: Any, heard: Any, beam: int, search: LabelSearch) -> list[Prefix]:
    """Search label by label, each at the frame where the network writes it, or over all its alignments."""
    if beam > WIDEST_BEAM:
        raise Fault(f"The beam is {beam}, but a network that writes label by label keeps at most {WIDEST_BEAM}.")
    label_steps = LabelSteps(task.model)
    steps = (
        label_steps if search.language_model is None else FusedSteps(label_steps, search.language_model, search.weight)
    )
    results = beam_search(steps, heard, label_steps.limits(heard), DecodingOptions(beam=beam, length_penalty=0.0))
    return [tuple(hypotheses[0].tokens) for hypotheses in results]


_SEARCHES = {"frames": _search_frames, "labels": _search_labels}


class FusedSteps:
    """The steps of a network fused with a language model: log p(k | l, x) + weight · log p(k | l).

    A row remembers its labels, because the language model is asked by prefix.
    """

    def __init__(self, steps: LabelSteps, language_model: NextLabels, weight: float) -> None:
        self.steps, self.language_model, self.weight = steps, language_model, weight
        self.begin, self.end = steps.begin, steps.end

    def start(self, heard: Any) -> State:
        state, limits = self.steps.start(heard), self.steps.limits(heard)
        return State(state.sentence, (state.row, limits.new_zeros(len(limits), 0)))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        row, written = state.row
        scores, after = self.steps.step(tokens, State(state.sentence, row))
        written = torch.cat([written, tokens[:, None]], dim=1)
        prefixes = [tuple(prefix) for prefix in written[:, 1:].tolist()]  # without the begin token
        language_scores = torch.tensor([self.language_model.after(prefix) for prefix in prefixes]).to(scores)
        return scores + self.weight * language_scores, State(state.sentence, (after.row, written))


class SymbolLanguage:
    """A language model of any of our families over the symbols that a network writes, one token each.

    `opening` holds the tokens before the first symbol of every text, such as a space that the tokeniser adds.
    """

    def __init__(self, language_model: Stepwise, tokens: Sequence[int], opening: Sequence[int] = ()) -> None:
        self.language_model, self.tokens = language_model, [*tokens, language_model.end]
        self.opening = [language_model.begin, *opening]
        self._known: dict[Prefix, tuple[list[float], State]] = {}

    def after(self, prefix: Prefix) -> list[float]:
        return self._read(prefix)[0]

    @torch.no_grad()
    def _read(self, prefix: Prefix) -> tuple[list[float], State]:
        if prefix not in self._known:
            if prefix:
                state, tokens = self._read(prefix[:-1])[1], [self.tokens[prefix[-1]]]
            else:
                state, tokens = self.language_model.start(Prompts([[]])), self.opening
            for token in tokens:
                scores, state = self.language_model.step(torch.tensor([token]), state)
            self._known[prefix] = scores[0, self.tokens].tolist(), state
        return self._known[prefix]


def language_search(
    model: Loaded, language_model: Loaded, weight: float | None, beam: int | None, called: str
) -> LabelSearch:
    """Return a search with a language model; refuse other models, and those without a token for each symbol."""
    from regard.verbs.translate.fusion import as_language_model

    weight = FUSE_WEIGHT if weight is None else weight
    if not (math.isfinite(weight) and weight >= 0):
        raise Fault(f"The weight of a fusion is {weight}; give a number of at least 0.")
    task = as_language_model(language_model, called).task
    symbols = model.task.alphabet.symbols
    encoded = [task.tokeniser.encode(symbol) for symbol in symbols]
    opening = encoded[0][:-1]
    for symbol, tokens in zip(symbols, encoded, strict=True):
        if tokens[:-1] != opening or not _is_token(symbol, tokens, task.tokeniser):
            kind = "words" if model.task.alphabet.words else "characters"
            raise Fault(
                f"The symbol '{symbol}' is not a token of {called}; train a language model on lines of transcripts, "
                f"with data.tokeniser.kind = '{kind}'."
            )
    return LabelSearch(beam, SymbolLanguage(task, [tokens[-1] for tokens in encoded], opening), weight)


def _is_token(symbol: str, tokens: list[int], tokeniser: "Tokeniser") -> bool:
    """Return True if the last of these tokens is the symbol; those before it may open a text."""
    if tokeniser.decode(tokens) != symbol:
        return False
    return len(tokens) == 1 or tokeniser.encode(symbol * 2) == [*tokens, tokens[-1]]
