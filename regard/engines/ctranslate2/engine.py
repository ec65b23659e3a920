"""Translate with CTranslate2: the export in a model folder, on every core of the CPU, without torch.

Each core works on its own batches, because two threads in one batch are slower than one. A batch has texts of similar
length, and the longest come first, so that no core waits at the end.
"""

import logging
import math
import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
_SHORTEST_NAP, _LONGEST_NAP = 0.0001, 0.05  # seconds between two checks of unfinished work


@dataclass(frozen=True)
class _Asked:
    """A search request."""

    options: DecodingOptions
    scored: bool
    explained: bool


def load_engine(folder: str | Path, workers: int | None = None, rows: int = ROWS) -> "CTranslate2Engine":
    """Load the export in a model folder with this many workers, by default one per core.

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
    ctranslate2.set_log_level(logging.ERROR)  # it would warn about every type that this CPU computes as another
    how: dict[str, Any] = {"files": files, "inter_threads": workers, "intra_threads": 1, "max_queued_batches": -1}
    try:
        with ThreadPoolExecutor(1) as beside:  # it leaves the thread that opens it with one of OpenMP, torch's too
            return beside.submit(ctranslate2.Translator, str(folder), **how).result()
    except Exception as error:  # it has no exception types of its own, and raises several of Python's
        raise Fault(f"CTranslate2 cannot read {folder}: {str(error).rstrip('.')}.") from None


class CTranslate2Engine:
    """A CTranslate2 translator between the tokenisers of a model."""

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
        self.decoding = decoding  # the search set in the model's recipe
        self.longest = self.learnt = longest  # tokens of a text, including its end
        self.language = ""  # of the texts, if known
        self._translator, self._rows = translator, rows
        self.shares_shortlist = has_shortlist  # a batch shares one list of what any of its texts may become
        self._source_names, self._target_names = names  # of the tokens of each side
        self._target_tokens = {name: token for token, name in enumerate(self._target_names)}

    def translate(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[list[Written]]:
        """Return the best outputs for each text, best first; with `explained`, the best of each is explained.

        Greedy search is faster without scores: if they are not needed (`scored`), they are nan.
        """
        if name := first_unsupported(options):
            value = getattr(options, name)
            raise Fault(f"CTranslate2 cannot follow decoding.{name} = {value!r}; translate with torch.")
        rows = rows_of(texts, self.source, self.longest, options)
        request = _Asked(options, scored or explained or options.beam > 1, explained)
        results = self._search(rows, request)
        best = [rank_finished(results[row.number], options) for row in rows]
        outputs: list[list[Written]] = [[NOTHING] for _ in texts]
        for row, hypotheses in zip(rows, best, strict=True):
            if request.scored and math.isnan(hypotheses[0].total):
                raise TextFault(row.number, NO_NUMBERS)
            outputs[row.number] = [self._write(output, options) for output in hypotheses]
        if explained:
            self._explain(rows, [hypotheses[0] for hypotheses in best], outputs)
        return outputs

    def translations(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[Translated]:
        """Return the best output of each text with its other candidates, as every engine does."""
        return [translation_of(outputs, self.target) for outputs in self.translate(texts, options, scored, explained)]

    def _write(self, output: FinishedOutput, options: DecodingOptions) -> Written:
        return Written([self._target_tokens[name] for name in output.tokens], score_of(output, options), [], [])

    # Search

    def _search(self, rows: list[Row], request: _Asked) -> dict[int, list[FinishedOutput]]:
        """Return the hypotheses of each row, none longer than its limit.

        CTranslate2 has one limit for a whole batch, that of its longest row. The rare row that exceeds its own limit is
        cut if the search is greedy. With a beam it is searched again, with enough patience to keep all finished
        hypotheses despite the unfinished ones.
        """
        outputs, exceeding = {row.number: [FinishedOutput([], 0.0, False, [])] for row in rows if row.limit == 1}, []
        enough = patience(request.options)
        for row, hypotheses in self._run(self._batches(rows), request, enough):
            if all(output.ended and len(output.tokens) < row.limit for output in hypotheses):
                outputs[row.number] = only_best_looks(hypotheses, request.options)
            elif request.options.beam == 1:
                outputs[row.number] = [output.cut(row.limit - 1) for output in hypotheses]
            else:
                exceeding.append(row)
        groups = groupby(sorted(exceeding, key=lambda row: row.limit), key=lambda row: row.limit)
        outputs.update(
            (row.number, hypotheses)
            for row, hypotheses in self._run([list(group) for _, group in groups], request, enough + 1)
        )
        return self._end(rows, outputs) if request.scored else outputs

    def _batches(self, rows: list[Row]) -> list[list[Row]]:
        """Return batches of rows of similar length, longest first; few rows are shared among the workers."""
        ordered = sorted((row for row in rows if row.limit > 1), key=lambda row: -len(row.tokens))
        size = max(1, min(self._rows, -(-len(ordered) // self._translator.num_translators)))
        return [ordered[first : first + size] for first in range(0, len(ordered), size)]

    def _run(
        self, batches: list[list[Row]], request: _Asked, patience: int
    ) -> Iterator[tuple[Row, list[FinishedOutput]]]:
        """Yield each row of the batches with its hypotheses."""
        running: deque[tuple[list[Row], float, Any]] = deque()
        for batch in batches:
            power = exponent(request.options, len(batch[0].tokens))
            results = self._translator.translate_batch(
                [self._names_of(row) for row in batch],
                asynchronous=True,
                max_decoding_length=max(row.limit for row in batch) - 1,
                use_vmap=self.shares_shortlist,
                return_scores=request.scored,
                return_attention=request.explained,
                **arguments(request.options, power, patience),
            )
            running.append((batch, power, results))
        end = self._target_names[self.target.end]
        while running:
            batch, power, results = running.popleft()  # removed before its rows are read
            for row, result in zip(batch, results, strict=True):
                yield row, read_result(_await(result), end, power)

    def _names_of(self, row: Row) -> list[str]:
        return [self._source_names[token] for token in row.tokens]

    # Completing the search

    def _end(self, rows: list[Row], outputs: dict[int, list[FinishedOutput]]) -> dict[int, list[FinishedOutput]]:
        """End every hypothesis that was cut off, and adjust its score.

        Scores from a search over a shortlist stay, because the others of its beam were scored the same way.
        """
        broken_off = [
            (row, place) for row in rows for place, output in enumerate(outputs[row.number]) if not output.ended
        ]
        scores = self._forced([(row, outputs[row.number][place].tokens) for row, place in broken_off])
        for (row, place), row_scores in zip(broken_off, scores, strict=True):
            output = outputs[row.number][place]
            total = sum(row_scores) if math.isnan(output.total) else output.total + row_scores[-1]
            outputs[row.number][place] = replace(output, total=total, ended=True)
        return outputs

    def _explain(self, rows: list[Row], best: list[FinishedOutput], outputs: list[list[Written]]) -> None:
        """Give the best output of each row its token scores and alignment."""
        scores = self._forced([(row, hypothesis.tokens) for row, hypothesis in zip(rows, best, strict=True)])
        for row, hypothesis, row_scores, first in zip(rows, best, scores, self._first_looks(rows), strict=True):
            output = outputs[row.number][0]
            words = self.target.words(output.tokens), self.source.words(row.tokens)
            alignment = word_links([first, *(looks.tolist() for looks in hypothesis.attention[1:])], *words)
            outputs[row.number][0] = replace(output, token_scores=row_scores, alignment=alignment)

    def _first_looks(self, rows: list[Row]) -> list[list[float]]:
        """Return the attention from which the first token of each row is written, whatever that token is.

        CTranslate2's beam search mixes these up among the rows of a batch (4.8.4), so one greedy step recomputes them.
        """
        sources = [self._names_of(row) for row in rows]
        step = {"beam_size": 1, "max_decoding_length": 1, "min_decoding_length": 0, "return_end_token": True}
        results = self._translator.translate_batch(
            sources, max_batch_size=self._rows, max_input_length=0, return_attention=True, **step
        )
        return [result.attention[0][0] for result in results]

    def _forced(self, pairs: list[tuple[Row, list[str]]]) -> list[list[float]]:
        """Return the log-probability of each token, and of the end, when exactly these are written."""
        sources, targets = [self._names_of(row) for row, _ in pairs], [tokens for _, tokens in pairs]
        results = self._translator.score_batch(sources, targets, max_batch_size=self._rows, max_input_length=0)
        return [result.log_probs for result in results]


def _await(result: Any) -> Any:
    """Wait for a batch. CTranslate2 cannot be interrupted, but its caller may do other work meanwhile."""
    began = time.monotonic()
    while has_pauses():
        between_steps()
        if result.done():
            break
        # There is no wait with a timeout, so it polls, late by at most a fiftieth of the time.
        time.sleep(min(max((time.monotonic() - began) / 50, _SHORTEST_NAP), _LONGEST_NAP))
    return result.result()
