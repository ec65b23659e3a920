"""Answer with onnxruntime, without torch: a class for each text, tags for its words, or tokens for its masks.

Each text is read by itself, on one core; an int8 graph rounds all states of a run with one scale.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from regard.answers import Answer, Tags
from regard.base.faults import Fault, TextFault
from regard.data.labelled.options import LabelledData
from regard.data.labelled.prepare import open_tokeniser
from regard.data.tagging.files import read_input
from regard.data.tagging.lengths import refuse_longer
from regard.data.tagging.lexicon import NO_PIECE, FormTable, open_lexicon
from regard.data.tagging.options import TaggingData
from regard.data.tagging.spans import find_spans
from regard.data.texts.options import TextTokeniserOptions
from regard.data.tokenisers.tokeniser import tokenisers_in
from regard.data.tokenisers.wordpiece import MASK, WordPieceTokeniser
from regard.decoding.output import NO_NUMBERS
from regard.engines.exported import again
from regard.engines.fast import TextChoice
from regard.engines.onnx.sessions import in_threads, open_graph, run_checked
from regard.engines.onnx.text_exports import ABOUT, Framing, TextExport, open_text_export
from regard.engines.tag_chain import TagChain
from regard.tasks.masked.ways import SHOWN, best_ways

READER = "reader.onnx"
Read = tuple[Any, dict[str, np.ndarray] | None]  # what the answer needs of an input, and the inputs of the graph


class _Kind(Protocol):
    """A kind of reader: inputs to arrays, and arrays to answers."""

    def read(self, inputs: Sequence[Any], raw: bool) -> list[Read]: ...
    def answer(self, read: Any, scores: Any) -> Answer | Tags: ...


class OnnxReader:
    """An export that answers; `tags_words` if it gives tags, and `has_spans` if these mark spans."""

    name: Literal["onnx"] = "onnx"

    def __init__(self, graph: Any, kind: _Kind, tags_words: bool = False, has_spans: bool = False) -> None:
        self._graph, self._kind, self.tags_words, self.has_spans = graph, kind, tags_words, has_spans
        self._inputs = [tensor.name for tensor in graph.get_inputs()]
        (self._output,) = [tensor.name for tensor in graph.get_outputs()]

    def answers(self, inputs: Sequence[Any], raw: bool = False) -> list[Answer | Tags]:
        """Return the answer to each input; `raw` is for taggers."""
        if raw and not self.tags_words:
            raise Fault("raw is for models that tag each word; this one does not.")
        rows = list(enumerate(self._kind.read(inputs, raw)))
        return [answer for _, answer in in_threads(lambda row: self._answer(*row), rows)]

    def _answer(self, number: int, row: Read) -> Answer | Tags:
        read, arrays = row
        scores = None
        if arrays is not None:
            (scores,) = run_checked(self._graph, [self._output], {name: arrays[name] for name in self._inputs})
            if np.isnan(scores).any():
                raise TextFault(number, NO_NUMBERS)
        return self._kind.answer(read, scores)


def load_reader(folder: Path, choice: TextChoice = "auto") -> OnnxReader | None:
    """Load the export of a model that answers; None for torch, for auto without an export, and for other models."""
    export = open_text_export(folder, choice, ("classification", "tagging", "masked"))
    if export is None:
        return None
    facts, graph = export.facts, open_graph(export.folder / READER)
    named = {"classification": facts.classes, "tagging": facts.tags}.get(facts.kind)
    if (named is not None and graph.get_outputs()[0].shape[-1] != len(named)) or not facts.fits_chain:
        raise Fault(f"{export.folder / READER} has other outputs than {ABOUT} names; {again(export.folder)}.")
    match facts.kind:
        case "classification":
            data: LabelledData = export.options(LabelledData, "data")
            if data.has_pairs or data.asks_about_aspects:
                if choice == "onnx":
                    raise Fault(
                        "onnxruntime classifies single texts, and this model reads pairs or aspects; use torch."
                    )
                return None
            return OnnxReader(graph, _Classifier(export, data))
        case "tagging":
            tagger = _Tagger(export)
            return OnnxReader(graph, tagger, True, tagger.has_spans)
    return OnnxReader(graph, _Filler(export))


def _framed(row: Sequence[int], framing: Framing, begin: int, end: int) -> dict[str, np.ndarray]:
    """Return the inputs for the tokens of one text, between special tokens if the network reads any (BERT)."""
    if not framing.behind:
        return {"tokens": np.array([row]), "lengths": np.array([len(row)])}
    tokens = np.array([[begin, *row, end]])
    return {"tokens": tokens, "lengths": np.array([tokens.shape[1]]), "segments": np.zeros_like(tokens)}


class _Classifier:
    def __init__(self, export: TextExport, data: LabelledData) -> None:
        self._facts, self._data, self._tokeniser = export.facts, data, open_tokeniser(export.files, data)

    def read(self, inputs: Sequence[str], raw: bool) -> list[Read]:
        rows = self._tokeniser.encode_all(list(inputs))
        return [(None, self._read(number, row)) for number, row in enumerate(rows)]

    def _read(self, number: int, row: list[int]) -> dict[str, np.ndarray]:
        if not row:
            raise TextFault(number, "there is no word in it.")
        framing = self._facts.framing
        room = self._facts.longest - framing.before - framing.behind
        drops_middle = framing.drops_middle and room > 1
        most = self._data.longest if drops_middle else min(self._data.longest, room)
        if len(row) > most:
            raise TextFault(number, f"it has {len(row):,} tokens, but the limit is {most:,}.")
        if drops_middle and len(row) > room:
            row = [*row[: room // 2], *row[len(row) - (room - room // 2) :]]
        return _framed(row, framing, self._tokeniser.begin, self._tokeniser.end)

    def answer(self, read: None, scores: np.ndarray) -> Answer:
        shares = np.exp(scores[0]).tolist()
        named = dict(zip(self._facts.classes, shares, strict=True))
        best = max(named, key=named.__getitem__)
        return Answer(best, named[best], named)


class _Filler:
    def __init__(self, export: TextExport) -> None:
        options: TextTokeniserOptions = export.options(TextTokeniserOptions, "data", "tokeniser")
        tokeniser = tokenisers_in(export.files, options.full())[0]
        if not isinstance(tokeniser, WordPieceTokeniser):
            raise Fault(f"The tokeniser is of kind {options.kind} and has no {MASK}.")
        self._facts, self._tokeniser = export.facts, tokeniser

    def read(self, inputs: Sequence[str], raw: bool) -> list[Read]:
        rows = self._tokeniser.encode_all(list(inputs))
        return [(None, self._read(number, row)) for number, row in enumerate(rows)]

    def _read(self, number: int, row: list[int]) -> dict[str, np.ndarray]:
        framing = self._facts.framing
        most = self._facts.longest - framing.before - framing.behind
        if len(row) > most:
            raise TextFault(number, f"it has {len(row):,} tokens, but this model reads {most:,} at most; split it.")
        arrays = _framed(row, framing, self._tokeniser.begin, self._tokeniser.end)
        places = np.flatnonzero(arrays["tokens"][0] == self._tokeniser.mask)
        if not len(places):
            raise TextFault(number, f"there is no {MASK} in it to fill.")
        return {**arrays, "places": places[None]}

    def answer(self, read: None, scores: np.ndarray) -> Answer:
        likely = scores[0]
        order = np.argsort(-likely, axis=-1, kind="stable")[:, :SHOWN]
        shares = np.exp(np.take_along_axis(likely, order, axis=-1)).tolist()
        ways = best_ways([self._tokeniser.pieces(tokens) for tokens in order.tolist()], shares)
        best = next(iter(ways))
        return Answer(best, ways[best], ways)


class _Tagger:
    def __init__(self, export: TextExport) -> None:
        self._facts, self._data = export.facts, export.options(TaggingData, "data")
        self._lexicon = open_lexicon(export.files, len(self._data.read_beside))
        pieces = self._data.tokeniser
        self._tokeniser = None if pieces is None else tokenisers_in(export.files, pieces.full())[0]
        chain = export.facts.chain
        tables = () if chain is None else (np.array(getattr(chain, name)) for name in TagChain._fields)
        self._chain = None if chain is None else TagChain(*tables)
        self.has_spans = self._data.scheme != "tags"

    def read(self, inputs: Sequence[Any], raw: bool) -> list[Read]:
        words = [read_input(sentence, self._data, raw).words for sentence in inputs]
        arrays = [self._arrays(row) if row else None for row in words]
        return list(zip(words, arrays, strict=True))

    def _arrays(self, words: list[str]) -> dict[str, np.ndarray]:
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        table, forms = FormTable(list(numbers), self._lexicon, self._tokeniser), [numbers[word] for word in words]
        framing, tokens, firsts = self._facts.framing, table.words[forms].tolist(), list[int]()
        begin = end = 0
        if self._tokeniser is not None:
            tokens, begin, end = [], self._tokeniser.begin, self._tokeniser.end
            for form in forms:
                firsts.append(len(tokens) + framing.before)
                tokens += table.pieces[form][table.pieces[form] != NO_PIECE].tolist()
        limits = {"data.longest": self._data.longest, "model.longest": self._facts.longest}
        most_pieces = None if self._tokeniser is None else self._facts.longest - framing.before - framing.behind
        refuse_longer(len(words), len(tokens), "There is a sentence", limits, most_pieces)
        beside = {"letters": table.letters, "forms": np.array([forms]), "shapes": table.shapes[forms][None]}
        return {**_framed(tokens, framing, begin, end), **beside, "firsts": np.array([firsts])}

    def answer(self, read: list[str], scores: np.ndarray | None) -> Tags:
        names, probabilities, together = list[str](), list[float](), 1.0
        if scores is not None:
            exact = scores[0].astype(np.float64)
            if self._chain is not None:
                tags = self._chain.best(exact)
                probabilities, together = self._chain.probabilities(exact, tags)
            else:
                tags = exact.argmax(axis=-1).tolist()
                shifted = exact - exact.max(axis=-1, keepdims=True)
                likely = shifted[range(len(tags)), tags] - np.log(np.exp(shifted).sum(axis=-1))
                probabilities, together = np.exp(likely).tolist(), float(np.exp(likely.sum()))
            names = [self._facts.tags[tag] for tag in tags]
        spans = [(span.type, span.start, span.end) for span in find_spans(names)] if self.has_spans else None
        return Tags(read, names, probabilities, together, spans)
