"""A translator in the hand: what `regard.load` gives for models that translate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.attention.watch import is_watched, without_watching
from regard.base.faults import Fault
from regard.base.notebook import Results
from regard.engines.translated import Translated
from regard.families.abilities import needs
from regard.loading import Loaded, load_as
from regard.verbs.translate.helpers import Helpers
from regard.verbs.translate.search import Constraints, Search, find
from regard.verbs.translate.translator import Rank, Translator
from regard.verbs.translate.unknown import replace_unknown as replace_unknown_words


class TranslationModel(Translator):
    """A translator with its tokenisers and its recipe, alone or together with others of the same tokens."""

    def translate(
        self,
        texts: Sequence[str],
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        constraints: Constraints | None = None,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        fuse: Loaded | None = None,
        fuse_weight: float | None = None,
        channel: Loaded | None = None,
        channel_weight: float | None = None,
        prior: Loaded | None = None,
        prior_weight: float | None = None,
    ) -> list[Translated]:
        """Translate each text; what is not given is as the model's recipe says.

        With `sample`, options of sampling such as {"temperature": 0.7, "seed": 3}, outputs are drawn at random, as many
        as `n_best`. With `replace_unknown` a model of words gives no unknown words, but those of the text that it
        looked at, or what the `dictionary` has for them. A language model of the same tokens to `fuse` with has its say
        at each step, as much as `fuse_weight` says. A `channel`, which translates in the other direction, and with it a
        language model `prior` rank what the beam has found. Under `watching` one more pass over the best outputs shows
        every attention, rows = texts.
        """
        if dictionary and not replace_unknown:
            raise Fault("dictionary would do nothing without replace_unknown.")
        helpers = Helpers(fuse, fuse_weight, channel, channel_weight, prior, prior_weight)
        search = self.search(beam, length_penalty, n_best, sample=sample, constraints=constraints)
        helped = helpers.help(self, search)
        dictionary = (dictionary or {}) if replace_unknown else None
        found = self.translate_by(texts, helped.search, rank=helped.rank, dictionary=dictionary)
        return found if self.certainty is None or sample is not None else Results(self.certainty.mark(found))

    def translate_by(
        self,
        texts: Sequence[str],
        search: Search,
        lines: Sequence[int] | None = None,
        rank: Rank | None = None,
        dictionary: Mapping[str, str] | None = None,
    ) -> list[Translated]:
        """Translate each text by a search of any kind; `lines` number the texts for sampling, and `rank` reorders.

        Unknown words are replaced where there is a `dictionary`, be it empty.
        """
        if isinstance(texts, str):
            raise TypeError("translate takes a list of texts; write translate([text])")
        with without_watching():
            found = find([self.task, *self.others], texts, search, lines)
            if rank is not None:
                found = rank(texts, found)
        if is_watched() and texts:
            self._force_named(texts, [hypotheses[0].tokens for hypotheses in found])
        if dictionary is None:
            return self.translations(texts, found)
        with without_watching():
            return self.translations(texts, found, replace_unknown_words(self, texts, found, dictionary))


def load_translation_model(folder: str | Path, device: str = "auto", precision: str = "float32") -> TranslationModel:
    """Load a model folder that must be able to translate."""
    return load_as(_translator, folder, device, precision)


def _translator(task: Any, recipe: Any) -> TranslationModel:
    needs(recipe, "translate")
    return TranslationModel(task, recipe)
