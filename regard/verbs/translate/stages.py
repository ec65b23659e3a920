"""Translating in stages, of which only the search needs the device, so that portions of text can overlap."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from regard.attention.watch import without_watching
from regard.base.faults import TextFault
from regard.decoding.fixed_beam import outputs_of, run_fixed_beam
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.records import Records
from regard.decoding.spare_time import InPieces
from regard.decoding.step_graphs import CapturedSteps
from regard.hardware.memory import in_pieces, list_halves
from regard.tasks.translation.lengths import all_source_tokens
from regard.tasks.translation.reserving import Reserving
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.outputs import Translated
from regard.verbs.translate.search import FIXED_BEAM_TOKENS, batches_of, captures_for, is_plain

AT_ONCE = 16  # texts of one piece of work: a third of a millisecond or so

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
        cutting = self.helper.submit(all_source_tokens, self.model.task, written)
        yield cutting
        return {number: tokens for number, tokens in cutting.result().items() if tokens}

    def find(self, cut: Cut) -> Found:
        """Search for the outputs of all texts, those of like length together, as many as the memory allows."""
        lengths = {number: len(tokens) + 1 for number, tokens in cut.items()}
        with without_watching():
            return [
                found
                for numbers in batches_of(lengths, FIXED_BEAM_TOKENS // self.options.beam)
                for found in in_pieces(partial(self._find_together, cut), numbers, list_halves)
            ]

    def _find_together(self, cut: Cut, numbers: list[int]) -> tuple[list[int], Records]:
        task = self.model.task
        with self.captures.taken():
            batch = task.read_tokens([cut[number] for number in numbers])
            limits = task.limits(batch, self.options)
            return numbers, run_fixed_beam(Reserving(task), batch, limits, self.options, self.captures)

    def word(self, texts: Sequence[str], found: Found) -> InPieces[list[Translated]]:
        """What was found, as people read it."""
        hypotheses = [[Hypothesis([], [0.0], 0.0)] for _ in texts]
        for numbers, records in found:
            for number, own in zip(numbers, self._outputs(numbers, records), strict=True):
                hypotheses[number] = own
            yield None
        translations: list[Translated] = []
        for first in range(0, len(texts), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            translations += self.model.translations(texts[part], hypotheses[part])
            yield None
        return translations

    def _outputs(self, numbers: Sequence[int], records: Records) -> list[list[Hypothesis]]:
        try:
            return outputs_of(records, self.options)
        except TextFault as fault:
            raise TextFault(numbers[fault.number], fault.sentence) from None


def stages_of(model: TranslationModel, options: DecodingOptions) -> TranslationStages | None:
    """The stages of a search that is captured on a GPU; elsewhere there is no time to spare."""
    captures = captures_for(model.task) if is_plain(options) else None
    return None if captures is None else TranslationStages(model, options, captures, ThreadPoolExecutor(1))
