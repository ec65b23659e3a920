"""Other models that have a say in what a translator writes: one fused with it, and those that rerank its beam."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.base.faults import Fault
from regard.decoding.rerank import Channel
from regard.loading import Loaded, load_as
from regard.verbs.translate.fusion import Fusion, as_language_model, fusion_of
from regard.verbs.translate.plan import refuse_idle
from regard.verbs.translate.request import CHANNEL_WEIGHT, PRIOR_WEIGHT
from regard.verbs.translate.reranking import by_channel
from regard.verbs.translate.search import Search
from regard.verbs.translate.translator import Rank, Translator, as_translator

if TYPE_CHECKING:
    from regard.verbs.generate.model import LanguageModel

ModelOrFolder = Loaded | str | Path


class HelpedSearch(NamedTuple):
    """A search, what ranks its outputs anew, if anything does, and what signatures of scores say of that."""

    search: Search
    rank: Rank | None = None
    ranking: str = ""


@dataclass(frozen=True)
class Helpers:
    """Models, or their folders, beside a translator; a weight that is not given is the usual one.

    A language model to `fuse` with has its say at each step. A `channel`, which is a translator of the other
    direction, and a language model `prior` rank what the beam has found.
    """

    fuse: ModelOrFolder | None = None
    fuse_weight: float | None = None
    channel: ModelOrFolder | None = None
    channel_weight: float | None = None
    prior: ModelOrFolder | None = None
    prior_weight: float | None = None

    def __post_init__(self) -> None:
        refuse_idle(
            fuse=self.fuse,
            fuse_weight=self.fuse_weight,
            channel=self.channel,
            prior=self.prior,
            prior_weight=self.prior_weight,
        )
        if self.channel_weight is not None and self.channel is None:
            raise Fault("The weight of a channel model would do nothing without a channel model.")

    def help(self, translator: Translator, search: Search) -> HelpedSearch:
        """A search of the translator, with their help; what they cannot help with is refused."""
        fused = replace(search, fusion=self._fusion(translator))
        if self.channel is None:
            return HelpedSearch(fused)
        if search.draws:
            raise Fault("A channel model reranks what the beam has found; do not sample.")
        every = search.options.model_copy(update={"n_best": search.options.beam})
        return HelpedSearch(replace(fused, options=every), *self._reranking(translator, search.options.n_best))

    def _fusion(self, translator: Translator) -> Fusion | None:
        if self.fuse is None:
            return None
        language_model = _open(self.fuse)
        called = str(language_model.folder or "the model to fuse with")
        place = {} if translator.folder is None else {"place": str(translator.folder)}
        return fusion_of(translator, language_model, self.fuse_weight, called, **place)

    def _reranking(self, translator: Translator, count: int) -> tuple[Rank, str]:
        assert self.channel is not None
        backward = as_translator(_open(self.channel))
        prior = None if self.prior is None else _prior(_open(self.prior))
        weights = Channel(
            _weight("channel model", self.channel_weight, CHANNEL_WEIGHT),
            0.0 if prior is None else _weight("prior", self.prior_weight, PRIOR_WEIGHT),
        )
        signed = [f"channel:{_name(backward)}:{weights.backward:g}"]
        if prior is not None:
            signed.append(f"prior:{_name(prior)}:{weights.language_model:g}")
        return by_channel(translator, backward, weights, prior, count), "|".join(signed)


NO_HELPERS = Helpers()


def _open(model: ModelOrFolder) -> Loaded:
    return model if isinstance(model, Loaded) else load_as(_made, model)


def _made(task: Any, recipe: Any) -> Loaded:
    """Return a helper as what its task asks for."""
    if recipe.task == "language":
        from regard.verbs.generate.model import LanguageModel  # which a translator alone does without

        return LanguageModel(task, recipe)
    return Translator(task, recipe) if recipe.task == "translation" else Loaded(task, recipe)


def _prior(model: Loaded) -> "LanguageModel":
    return as_language_model(model, str(model.folder or "the prior"))


def _name(model: Loaded) -> str:
    """What a signature calls a model."""
    return "unnamed" if model.folder is None else model.folder.name


def _weight(of: str, given: float | None, usual: float) -> float:
    weight = usual if given is None else given
    if not (math.isfinite(weight) and weight >= 0):
        raise Fault(f"The weight of a {of} is {weight}; give a number that is not below 0.")
    return weight
