"""Translating in stages, of which only the search needs the device, so that portions of text can overlap."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from regard.attention.watch import without_watching
from regard.base.faults import faults_numbered
from regard.decoding.fixed_beam import run_fixed_beam
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis, check_numbers
from regard.decoding.records import Records
from regard.decoding.spare_time import InPieces
from regard.decoding.step_graphs import CapturedSteps
from regard.engines.translated import Translated
from regard.hardware.memory import in_pieces, list_halves
from regard.tasks.translation.reserving import Reserving
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.search import FIXED_BEAM_TOKENS, captures_for, filling_batches, is_plain

AT_ONCE = 16  # texts of one piece of work: half a millisecond or so
NOTHING = Hypothesis([], [0.0], 0.0)  # the output for a text without a token

Cut = dict[int, list[int]]  # the tokens of texts by their numbers, those without any left out
Found = list[tuple[list[int], Records]]  # of each batch the numbers of its texts, and what a search did for them


@dataclass(frozen=True)
class TranslationStages:
    """A model, a plain search and its captured steps: what is read, what is found, and how that is worded."""

    model: TranslationModel
    options: DecodingOptions
    captures: CapturedSteps
    helper: ThreadPoolExecutor

    def cut(self, texts: Sequence[str]) -> InPieces[Cut]:
        """The tokens of texts, by another thread, as SentencePiece needs no interpreter; too long ones are refused."""
        written = {number: text for number, text in enumerate(texts) if text.strip()}
        cutting = self.helper.submit(self.model.task.source_tokens, written)
        yield cutting
        return {number: tokens for number, tokens in cutting.result().items() if tokens}

    def find(self, cut: Cut) -> Found:
        """Search for the outputs of all texts, those of like length together, as many as the memory allows."""
        lengths = {number: len(tokens) + 1 for number, tokens in cut.items()}
        with without_watching():
            return [
                found
                for numbers in filling_batches(lengths, FIXED_BEAM_TOKENS // self.options.beam)
                for found in in_pieces(partial(self._find_together, cut), numbers, list_halves)
            ]

    def _find_together(self, cut: Cut, numbers: list[int]) -> tuple[list[int], Records]:
        task = self.model.task
        with self.captures.taken():
            batch = task.read_tokens([cut[number] for number in numbers])
            limits = task.limits(batch, self.options)
            return numbers, run_fixed_beam(Reserving(task), batch, limits, self.options, self.captures)

    def word(self, texts: Sequence[str], found: Found) -> InPieces[list[Translated]]:
        """Return the outputs as people read them; tables of a whole search are made by another thread."""
        worded = dict[int, Translated]()
        for numbers, records in found:
            tables = self.helper.submit(records.best, self.options.n_best)
            yield tables
            for first in range(0, len(numbers), AT_ONCE):
                part = numbers[first : first + AT_ONCE]
                hypotheses = self._checked(part, tables.result().hypotheses(slice(first, first + AT_ONCE)))
                own = self.model.translations([texts[number] for number in part], hypotheses)
                worded |= zip(part, own, strict=True)
                yield None
        empty = [number for number in range(len(texts)) if number not in worded]
        nothing = self.model.translations([texts[number] for number in empty], [[NOTHING] for _ in empty])
        worded |= zip(empty, nothing, strict=True)
        return [worded[number] for number in range(len(texts))]

    def _checked(self, numbers: Sequence[int], outputs: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
        with faults_numbered(numbers):
            check_numbers(outputs)
        return outputs


def stages_of(model: TranslationModel, options: DecodingOptions) -> TranslationStages | None:
    """The stages of a search that is captured on a GPU; elsewhere there is no time to spare."""
    captures = captures_for(model.task) if is_plain(options) else None
    return None if captures is None else TranslationStages(model, options, captures, ThreadPoolExecutor(1))
