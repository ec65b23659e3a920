"""Translating in stages, of which only the search needs the device, so that portions of text can overlap."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.attention.watch import without_watching
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.spare_time import InPieces
from regard.tasks.translation.lengths import all_source_tokens
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.outputs import Translated
from regard.verbs.translate.search import Search, captures_for, find, is_plain

AT_ONCE = 16  # texts of one piece of work: a third of a millisecond or so

Cut = dict[int, list[int]]  # the tokens of texts by their numbers, those of white space alone left out


@dataclass(frozen=True)
class TranslationStages:
    """A model and a search: what is read, what is found, and how that is worded."""

    model: TranslationModel
    search: Search

    def cut(self, texts: Sequence[str]) -> InPieces[Cut]:
        """The tokens of texts; one that is too long is refused by its number."""
        found: Cut = {}
        for first in range(0, len(texts), AT_ONCE):
            part = dict(enumerate(texts[first : first + AT_ONCE], start=first))
            found |= all_source_tokens(self.model.task, {number: text for number, text in part.items() if text.strip()})
            yield
        return found

    def find(self, texts: Sequence[str], cut: Cut) -> list[list[Hypothesis]]:
        """The outputs for texts whose tokens are there."""
        with without_watching():
            return find([self.model.task], texts, self.search, cut=cut)

    def word(self, texts: Sequence[str], found: Sequence[list[Hypothesis]]) -> InPieces[list[Translated]]:
        """What was found, as people read it."""
        translations: list[Translated] = []
        for first in range(0, len(texts), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            translations += self.model.translations(texts[part], found[part])
            yield
        return translations


def stages_of(model: TranslationModel, options: DecodingOptions) -> TranslationStages | None:
    """The stages of a search that is captured on a GPU; elsewhere there is no time to spare."""
    if not is_plain(options) or captures_for(model.task) is None:
        return None
    return TranslationStages(model, Search(options))
