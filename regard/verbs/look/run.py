"""Looking into a model: its attention, what it may write next, its beam, and one word in several texts."""

from collections.abc import Mapping, Sequence

from regard.base.faults import Fault
from regard.families.abilities import METHOD, needs
from regard.loading import Loaded
from regard.seeing.contexts import word_contexts
from regard.seeing.gazes import refuse_speaker
from regard.seeing.looking import (
    BARS,
    LookedAtPlace,
    view_answer,
    view_beam,
    view_next,
    view_prompt,
    view_translation,
)
from regard.verbs.embed.run import embed_each
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate.model import TranslationModel, as_translator
from regard.viewing.contexts import DrawnContexts
from regard.viewing.view import DrawingRequest, View


def look(
    model: Loaded,
    given: str,
    target: str | None,
    side: str | None,
    wanted: DrawingRequest,
    speaker: str | None = None,
) -> View:
    """Return what a model looks at while it reads `given`: a translator while it writes `target`, or its best output.

    Of several attentions it is the one that `side` names, or the first. Of a language model without attention it is
    what may follow. A model that speaks does so as `speaker`, or as the first that it knows.
    """
    if isinstance(model, TranslationModel | LanguageModel):
        refuse_speaker(speaker)
    if isinstance(model, TranslationModel):
        return view_translation(model, given, target, side, wanted)
    if target is not None:
        raise Fault("A target is for translators, which can be made to write one.")
    if isinstance(model, LanguageModel) and "look" not in model.verbs:
        return view_prompt(model, given)
    needs(model.recipe, "look", METHOD)
    return view_answer(model, given, side, wanted, speaker)


def look_next(
    model: Loaded, text: str, prefix: str | None, at: int | None, steps: Mapping[str, float], bars: int = BARS
) -> View:
    """Return what may follow: of a language model after `text`, of a translator after a prefix or `at` tokens."""
    if not isinstance(model, LanguageModel):
        return view_next(as_translator(model), LookedAtPlace(text, prefix, at), steps, bars)
    if given := next((name for name, value in (("prefix", prefix), ("at", at)) if value is not None), None):
        raise Fault(f"--{given} is for translators; the next token of a language model follows its text.")
    return view_prompt(model, text, steps, bars)


def look_beam(model: Loaded, text: str, width: int | None, length_penalty: float | None) -> View:
    """Return the beam of a translator as a tree."""
    return view_beam(as_translator(model), text, width, length_penalty)


def look_contexts(model: Loaded, word: str, texts: Sequence[str]) -> View:
    """Return where the vectors of one word lie that stands in several texts, layer by layer."""
    return View(word, DrawnContexts(word_contexts(word, list(embed_each(model.task, texts)))))
