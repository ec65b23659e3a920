"""Translate in stages; only the search needs the device, so portions of text can overlap."""

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

AT_ONCE = 16  # texts in one piece of work: about half a millisecond
NOTHING = Hypothesis([], [0.0], 0.0)  # the output for a text without tokens

Cut = dict[int, list[int]]  # the tokens of texts by number, without empty texts
Found = list[tuple[list[int], Records]]  # for each batch, the numbers of its texts and the records of the search


@dataclass(frozen=True)
class TranslationStages:
    """The stages of a plain search with captured steps: tokenise, find, and turn into text."""

    model: TranslationModel
    options: DecodingOptions
    captures: CapturedSteps
    helper: ThreadPoolExecutor

    def cut(self, texts: Sequence[str]) -> InPieces[Cut]:
        """Tokenise texts in another thread, as SentencePiece releases the interpreter; refuse overlong texts."""
        filled = {number: text for number, text in enumerate(texts) if text.strip()}
        result = self.helper.submit(self.model.task.source_tokens, filled)
        yield result
        return {number: tokens for number, tokens in result.result().items() if tokens}

    def find(self, cut: Cut) -> Found:
        """Search for the outputs of all texts, those of similar length together, as many as the memory allows."""
        lengths = {number: len(tokens) + 1 for number, tokens in cut.items()}
        with without_watching():
            return [
                records
                for numbers in filling_batches(lengths, FIXED_BEAM_TOKENS // self.options.beam)
                for records in in_pieces(partial(self._find_together, cut), numbers, list_halves)
            ]

    def _find_together(self, cut: Cut, numbers: list[int]) -> tuple[list[int], Records]:
        task = self.model.task
        with self.captures.taken():
            batch = task.read_tokens([cut[number] for number in numbers])
            limits = task.limits(batch, self.options)
            return numbers, run_fixed_beam(Reserving(task), batch, limits, self.options, self.captures)

    def word(self, texts: Sequence[str], found: Found) -> InPieces[list[Translated]]:
        """Return the outputs as text; the tables of a whole search are built in another thread."""
        translations = dict[int, Translated]()
        for numbers, records in found:
            tables = self.helper.submit(records.best, self.options.n_best)
            yield tables
            for first in range(0, len(numbers), AT_ONCE):
                part = numbers[first : first + AT_ONCE]
                hypotheses = self._checked(part, tables.result().hypotheses(slice(first, first + AT_ONCE)))
                part_translations = self.model.translations([texts[number] for number in part], hypotheses)
                translations |= zip(part, part_translations, strict=True)
                yield None
        empty = [number for number in range(len(texts)) if number not in translations]
        blanks = self.model.translations([texts[number] for number in empty], [[NOTHING] for _ in empty])
        translations |= zip(empty, blanks, strict=True)
        return [translations[number] for number in range(len(texts))]

    def _checked(self, numbers: Sequence[int], outputs: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
        with faults_numbered(numbers):
            check_numbers(outputs)
        return outputs


def stages_of(model: TranslationModel, options: DecodingOptions) -> TranslationStages | None:
    """Return the stages for a captured search on a GPU; None elsewhere, where nothing can overlap."""
    captures = captures_for(model.task) if is_plain(options) else None
    return None if captures is None else TranslationStages(model, options, captures, ThreadPoolExecutor(1))
