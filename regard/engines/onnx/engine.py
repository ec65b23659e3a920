"""Translate with onnxruntime: the export in a model folder, without torch.

An int8 matrix is packed for the processor once, when the engine is loaded, so that a single sentence takes a fraction
of the time that others take. Each core works on its own sentence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from regard.base.faults import Fault, TextFault
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.decoding.output import NO_NUMBERS
from regard.engines.beam_rules import first_unsupported
from regard.engines.exported import LISTED, ONNX, read_export, read_surroundings, try_out
from regard.engines.links import word_links
from regard.engines.onnx.sessions import in_threads, open_graph, run_graph
from regard.engines.plain_beam import Best, PlainHypothesis, plain_beam
from regard.engines.shortlist import Shortlist
from regard.engines.token_rows import NOTHING, Row, Written, rows_of, translation_of
from regard.engines.translated import Translated

ENCODER, STEP, CANDIDATES = "encoder.onnx", "step.onnx", "candidates.onnx"
_OUTPUTS = ("best", "tokens", "end", "attention")  # of a step, besides the caches


def load_engine(folder: str | Path, workers: int | None = None) -> "OnnxEngine":
    """Load the export in a model folder to translate this many sentences at once, by default one per core.

    Every file of it is checked, and that the model has not changed since.
    """
    folder = Path(folder)
    read_export(folder / ONNX)
    around = read_surroundings(folder / ONNX)
    graphs = load_graphs(folder / ONNX, around.tokenisers[1])
    engine = OnnxEngine(graphs, around.tokenisers, around.decoding, around.longest, workers)
    engine.learnt, engine.language = around.learnt, around.language
    try_out(engine, folder / ONNX)
    return engine


def load_graphs(folder: Path, target: Tokeniser) -> "Graphs":
    """Load the graphs of an export, and its shortlist if it has one, for outputs of these tokens."""
    listing = None
    if (folder / LISTED).is_file():
        try:
            shortlist = Shortlist.from_bytes((folder / LISTED).read_bytes(), target.size)
        except ValueError as error:
            raise Fault(f"{folder / LISTED} is damaged: {error}.") from None
        listing = _Listing(open_graph(folder / CANDIDATES), shortlist, target.end)
    return Graphs(open_graph(folder / ENCODER), open_graph(folder / STEP), target.size, listing)


@dataclass(frozen=True)
class _Listing:
    """A shortlist, and a graph that returns the part of the output layer for its tokens."""

    graph: Any
    shortlist: Shortlist
    end: int

    def of(self, source: Sequence[int]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the tokens that a sentence may be translated with, the end first, and their part of the output
        layer.
        """
        candidates = np.array([self.end, *sorted(self.shortlist.candidates(source) - {self.end})])
        return candidates, run_graph(self.graph, {"candidates": candidates})


@dataclass(frozen=True)
class Graphs:
    """A graph that reads a sentence, and one that writes one more token."""

    encoder: Any
    step: Any
    tokens: int  # size of the target vocabulary
    listing: _Listing | None = None

    def read(self, source: Sequence[int]) -> "_Sentence":
        """Read a sentence, whose last token is its end."""
        memory = run_graph(self.encoder, {"source": np.array([source]), "lengths": np.array([len(source)])})
        if self.listing is None:
            return _Sentence(self.step, memory, self.tokens)
        candidates, layer = self.listing.of(source)
        return _Sentence(self.step, memory | layer, len(candidates), candidates)


class _Sentence:
    """A sentence being translated: its encoding, and what each row of its beam has written.

    There are `most` tokens to choose from. With `candidates`, the step numbers them by their places in that list.
    """

    def __init__(
        self, step: Any, memory: dict[str, np.ndarray], most: int, candidates: np.ndarray | None = None
    ) -> None:
        self._step, self._memory, self._most, self._candidates = step, memory, most, candidates
        inputs = {tensor.name: tensor.shape for tensor in step.get_inputs() if tensor.name.startswith("past.")}
        self._past = {name: np.zeros([_begun(size) for size in shape], np.float32) for name, shape in inputs.items()}
        self._wanted = [*_OUTPUTS, *(name.replace("past", "present", 1) for name in inputs)]

    def step(self, tokens: Sequence[int], origins: Sequence[int], count: int) -> Best:
        """Return the continuations of these tokens, one per row, each after the row it comes from."""
        past = self._past
        if [*origins] != [*range(len(next(iter(past.values()))))]:
            past = {name: table[[*origins]] for name, table in past.items()}
        inputs = {"target": np.array(tokens)[:, None], "count": np.array([min(count, self._most)])}
        best, ranked, end, attention, *present = self._step.run(self._wanted, inputs | self._memory | past)
        self._past = dict(zip(past, present, strict=True))
        return Best(best, ranked if self._candidates is None else self._candidates[ranked], end, attention)


def _begun(size: int | str) -> int:
    """Return the size of an axis before the first token: one row, and no past."""
    return {"row": 1, "past": 0}[size] if isinstance(size, str) else size


class OnnxEngine:
    """An onnxruntime translator between the tokenisers of a model."""

    name: Literal["onnx"] = "onnx"
    shares_shortlist = False  # each sentence has its own

    def __init__(
        self,
        graphs: Graphs,
        tokenisers: tuple[Tokeniser, Tokeniser],
        decoding: DecodingOptions,
        longest: int,
        workers: int | None = None,
    ) -> None:
        self.source, self.target = tokenisers
        self.decoding = decoding  # the search set in the model's recipe
        self.longest = self.learnt = longest  # tokens of a text, including its end
        self.language = ""  # of the texts, if known
        self._graphs, self._workers = graphs, workers

    def translate(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[list[Written]]:
        """Return the best outputs for each text, best first; with `explained`, the best of each is explained.

        They always have scores, whatever `scored` says, because here scores cost nothing.
        """
        if name := first_unsupported(options):
            value = getattr(options, name)
            raise Fault(f"onnxruntime cannot follow decoding.{name} = {value!r}; translate with torch.")
        # The longest come first, so that no core waits at the end.
        rows = sorted(rows_of(texts, self.source, self.longest, options), key=lambda row: -len(row.tokens))
        outputs = [[NOTHING] for _ in texts]
        for row, hypotheses in in_threads(lambda row: self._search(row, options), rows, self._workers):
            outputs[row.number] = [
                self._write(row, hypothesis, options, explained and not place)
                for place, hypothesis in enumerate(hypotheses)
            ]
        return outputs

    def translations(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[Translated]:
        """Return the best output of each text with its other candidates, as every engine does."""
        return [translation_of(outputs, self.target) for outputs in self.translate(texts, options, scored, explained)]

    def _search(self, row: Row, options: DecodingOptions) -> list[PlainHypothesis]:
        sentence = self._graphs.read([*row.tokens, self.source.end])
        hypotheses = plain_beam(sentence.step, row.limit, self.target.begin, self.target.end, options)
        if not hypotheses or math.isnan(hypotheses[0].total):
            raise TextFault(row.number, NO_NUMBERS)
        return hypotheses

    def _write(self, row: Row, hypothesis: PlainHypothesis, options: DecodingOptions, explained: bool) -> Written:
        if not explained:
            return Written(hypothesis.tokens, hypothesis.score(options), [], [])
        words = self.target.words(hypothesis.tokens), self.source.words(row.tokens)
        links = word_links([weights.tolist() for weights in hypothesis.attention], *words)
        return Written(hypothesis.tokens, hypothesis.score(options), hypothesis.scores, links)
