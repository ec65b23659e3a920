"""Translating with CTranslate2: the export in a model folder, on every core of the CPU, without torch.

Each core works on batches of its own, for two threads in one batch are slower than one. A batch is of texts of like
length, and the longest come first, so that no core is left waiting at the end.
"""

import logging
import math
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from regard.base.faults import Fault, TextFault
from regard.base.pauses import between_steps, has_pauses
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.decoding.output import NO_NUMBERS
from regard.engines.beam_rules import first_unsupported
from regard.engines.ctranslate2.files import check_files
from regard.engines.ctranslate2.search import (
    FinishedOutput,
    arguments,
    exponent,
    only_best_looks,
    patience,
    rank_finished,
    read_result,
    score_of,
)
from regard.engines.exported import CTRANSLATE2, SHORTLIST, read_export, read_surroundings, try_out
from regard.engines.links import word_links
from regard.engines.token_rows import NOTHING, Row, Written, rows_of, translation_of
from regard.engines.translated import Translated

ROWS = 32  # texts in a batch
_SHORTEST_NAP, _LONGEST_NAP = 0.0001, 0.05  # seconds between two looks at what is not finished


@dataclass(frozen=True)
class _Asked:
    """A search request."""

    options: DecodingOptions
    scored: bool
    explained: bool


def load_engine(folder: str | Path, workers: int | None = None, rows: int = ROWS) -> "CTranslate2Engine":
    """The export in a model folder, ready to translate with so many workers (one for each core if not given).

    Every file of it is checked, and that the model has not changed since. Up to `rows` texts make a batch.
    """
    folder = Path(folder)
    files = read_export(folder / CTRANSLATE2)
    around = read_surroundings(folder / CTRANSLATE2)
    names = check_files(folder / CTRANSLATE2, files, *around.tokenisers)
    translator = _open(folder / CTRANSLATE2, files, workers or len(os.sched_getaffinity(0)))
    engine = CTranslate2Engine(
        translator, SHORTLIST in files, names, around.tokenisers, around.decoding, around.longest, rows
    )
    engine.learnt, engine.language = around.learnt, around.language
    try_out(engine, folder / CTRANSLATE2)
    return engine


def _open(folder: Path, files: dict[str, bytes], workers: int) -> Any:
    try:
        import ctranslate2
    except ModuleNotFoundError:
        raise Fault("CTranslate2 is not installed; install the package ctranslate2, or translate with torch.") from None
    ctranslate2.set_log_level(logging.ERROR)  # it would tell of every type that this CPU computes as another
    try:
        return ctranslate2.Translator(
            str(folder), files=files, inter_threads=workers, intra_threads=1, max_queued_batches=-1
        )
    except Exception as error:  # it has no kinds of its own, and several of Python's
        raise Fault(f"CTranslate2 cannot read {folder}: {str(error).rstrip('.')}.") from None


class CTranslate2Engine:
    """A translator by CTranslate2 between the tokenisers of a model."""

    name: Literal["ctranslate2"] = "ctranslate2"

    def __init__(
        self,
        translator: Any,
        has_shortlist: bool,
        names: tuple[list[str], list[str]],
        tokenisers: tuple[Tokeniser, Tokeniser],
        decoding: DecodingOptions,
        longest: int,
        rows: int = ROWS,
    ) -> None:
        self.source, self.target = tokenisers
        self.decoding = decoding  # the search that the model's recipe asks for
        self.longest = self.learnt = longest  # tokens of a text, its end counted
        self.language = ""  # of the texts, if it is known
        self._translator, self._rows = translator, rows
        self.shares_shortlist = has_shortlist  # a batch has one, of what any of its texts may become
        self._source_names, self._target_names = names  # of the tokens of each side
        self._target_tokens = {name: token for token, name in enumerate(self._target_names)}

    def translate(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[list[Written]]:
        """The best outputs for each text, best first; with `explained`, the best of each is explained.

        Greedy search needs no scores and is quicker without: where nobody wants them (`scored`), they are nan.
        """
        if name := first_unsupported(options):
            value = getattr(options, name)
            raise Fault(f"CTranslate2 cannot follow decoding.{name} = {value!r}; translate with torch.")
        rows = rows_of(texts, self.source, self.longest, options)
        asked = _Asked(options, scored or explained or options.beam > 1, explained)
        found = self._search(rows, asked)
        best = [rank_finished(found[row.number], options) for row in rows]
        outputs: list[list[Written]] = [[NOTHING] for _ in texts]
        for row, hypotheses in zip(rows, best, strict=True):
            if asked.scored and math.isnan(hypotheses[0].total):
                raise TextFault(row.number, NO_NUMBERS)
            outputs[row.number] = [self._write(each, options) for each in hypotheses]
        if explained:
            self._explain(rows, [hypotheses[0] for hypotheses in best], outputs)
        return outputs

    def translations(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[Translated]:
        """Return the best output of each text with its other candidates, as every engine does."""
        return [translation_of(outputs, self.target) for outputs in self.translate(texts, options, scored, explained)]

    def _write(self, found: FinishedOutput, options: DecodingOptions) -> Written:
        return Written([self._target_tokens[name] for name in found.tokens], score_of(found, options), [], [])

    # Searching

    def _search(self, rows: list[Row], asked: _Asked) -> dict[int, list[FinishedOutput]]:
        """The hypotheses of each row, none longer than its limit.

        CTranslate2 has one limit for a whole batch, that of its longest row. The rare row that goes on past its own is
        cut where the search is greedy, and searched again by a beam, with patience enough that nothing that ended is
        forgotten beside what was broken off.
        """
        found, again = {row.number: [FinishedOutput([], 0.0, False, [])] for row in rows if row.limit == 1}, []
        enough = patience(asked.options)
        for row, hypotheses in self._run(self._batches(rows), asked, enough):
            if all(each.ended and len(each.tokens) < row.limit for each in hypotheses):
                found[row.number] = only_best_looks(hypotheses, asked.options)
            elif asked.options.beam == 1:
                found[row.number] = [each.cut(row.limit - 1) for each in hypotheses]
            else:
                again.append(row)
        alike = groupby(sorted(again, key=lambda row: row.limit), key=lambda row: row.limit)
        found.update(
            (row.number, hypotheses)
            for row, hypotheses in self._run([list(group) for _, group in alike], asked, enough + 1)
        )
        return self._end(rows, found) if asked.scored else found

    def _batches(self, rows: list[Row]) -> list[list[Row]]:
        """Rows of like length together, the longest first; few rows are shared out among the workers."""
        ordered = sorted((row for row in rows if row.limit > 1), key=lambda row: -len(row.tokens))
        size = max(1, min(self._rows, -(-len(ordered) // self._translator.num_translators)))
        return [ordered[first : first + size] for first in range(0, len(ordered), size)]

    def _run(
        self, batches: list[list[Row]], asked: _Asked, patience: int
    ) -> Iterator[tuple[Row, list[FinishedOutput]]]:
        """Each row of the batches and its hypotheses."""
        running: deque[tuple[list[Row], float, Any]] = deque()
        for batch in batches:
            power = exponent(asked.options, len(batch[0].tokens))
            results = self._translator.translate_batch(
                [self._names_of(row) for row in batch],
                asynchronous=True,
                max_decoding_length=max(row.limit for row in batch) - 1,
                use_vmap=self.shares_shortlist,
                return_scores=asked.scored,
                return_attention=asked.explained,
                **arguments(asked.options, power, patience),
            )
            running.append((batch, power, results))
        end = self._target_names[self.target.end]
        while running:
            batch, power, results = running.popleft()  # so that it is gone when its rows are read
            for row, result in zip(batch, results, strict=True):
                yield row, read_result(_await(result), end, power)

    def _names_of(self, row: Row) -> list[str]:
        return [self._source_names[token] for token in row.tokens]

    # What the search leaves open

    def _end(self, rows: list[Row], found: dict[int, list[FinishedOutput]]) -> dict[int, list[FinishedOutput]]:
        """End every hypothesis that was cut off, and adjust its score.

        What a search over a shortlist gave a token stays, for the others of its beam were weighed in that way too.
        """
        broken_off = [(row, place) for row in rows for place, each in enumerate(found[row.number]) if not each.ended]
        scores = self._forced([(row, found[row.number][place].tokens) for row, place in broken_off])
        for (row, place), own in zip(broken_off, scores, strict=True):
            each = found[row.number][place]
            total = sum(own) if math.isnan(each.total) else each.total + own[-1]
            found[row.number][place] = replace(each, total=total, ended=True)
        return found

    def _explain(self, rows: list[Row], best: list[FinishedOutput], outputs: list[list[Written]]) -> None:
        """Give the best output of each row the scores of its tokens and its alignment."""
        scores = self._forced([(row, each.tokens) for row, each in zip(rows, best, strict=True)])
        for row, each, own, first in zip(rows, best, scores, self._first_looks(rows), strict=True):
            output = outputs[row.number][0]
            words = self.target.words(output.tokens), self.source.words(row.tokens)
            alignment = word_links([first, *(looks.tolist() for looks in each.attention[1:])], *words)
            outputs[row.number][0] = replace(output, token_scores=own, alignment=alignment)

    def _first_looks(self, rows: list[Row]) -> list[list[float]]:
        """The attention from which the first token of each row is written, whatever that token is.

        CTranslate2's beam search mixes these up among the rows of a batch (4.8.4), so one greedy step finds them anew.
        """
        sources = [self._names_of(row) for row in rows]
        step = {"beam_size": 1, "max_decoding_length": 1, "min_decoding_length": 0, "return_end_token": True}
        found = self._translator.translate_batch(
            sources, max_batch_size=self._rows, max_input_length=0, return_attention=True, **step
        )
        return [result.attention[0][0] for result in found]

    def _forced(self, pairs: list[tuple[Row, list[str]]]) -> list[list[float]]:
        """The log-probability of each token, and of the end, where just these are written."""
        sources, targets = [self._names_of(row) for row, _ in pairs], [tokens for _, tokens in pairs]
        found = self._translator.score_batch(sources, targets, max_batch_size=self._rows, max_input_length=0)
        return [result.log_probs for result in found]


def _await(result: Any) -> Any:
    """Wait for a batch. CTranslate2 cannot be interrupted, but its caller may do other work meanwhile."""
    began = time.monotonic()
    while has_pauses():
        between_steps()
        if result.done():
            break
        # There is no waiting for so long at most, so it looks again and again, never late by more than a fiftieth.
        time.sleep(min(max((time.monotonic() - began) / 50, _SHORTEST_NAP), _LONGEST_NAP))
    return result.result()
