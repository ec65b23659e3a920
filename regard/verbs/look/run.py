"""Look inside a model: its attention, next token, beam, one word in several texts, and its nearest training data."""

from collections.abc import Mapping, Sequence
from typing import Literal

from regard.base.arguments import one_text
from regard.base.edits import Edits
from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.families.abilities import METHOD, needs
from regard.loading import Loaded
from regard.seeing.contexts import word_contexts
from regard.seeing.edited import view_edited
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
from regard.seeing.nearest.search import FROM_LINES, Measure, nearest_examples, places_of
from regard.verbs.embed.run import embed_each
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate.model import TranslationModel, as_translator
from regard.viewing.canvas import show_word
from regard.viewing.contexts import DrawnContexts
from regard.viewing.examples import DrawnExamples
from regard.viewing.view import DrawingRequest, View


def look(
    model: Loaded,
    item: str,
    target: str | None,
    side: str | None,
    drawing: DrawingRequest,
    speaker: str | None = None,
    edits: Edits | None = None,
) -> View:
    """Return a view of a model's attention to an input; a translator writes `target`, or its best output.

    `side` chooses one of several attentions; the default is the first. A language model without attention shows what
    may follow instead. A model that speaks uses the voice of `speaker`, or the first that it knows. Under `edits` the
    model answers twice, and the heading shows both outputs.
    """
    if isinstance(model, TranslationModel | LanguageModel):
        refuse_speaker(speaker)
        one_text("look", item)
    if isinstance(model, TranslationModel):
        return view_edited(model, edits, lambda: view_translation(model, item, target, side, drawing))
    if target is not None:
        raise Fault("A target is for translators; omit it for this model.")
    if isinstance(model, LanguageModel) and "look" not in model.verbs:
        return view_edited(model, edits, lambda: view_prompt(model, item))
    needs(model.recipe, "look", METHOD)
    return view_edited(model, edits, lambda: view_answer(model, item, side, drawing, speaker))


def look_next(
    model: Loaded, text: str, prefix: str | None, at: int | None, steps: Mapping[str, float], bars: int = BARS
) -> View:
    """Return a view of the next token: after `text` for a language model, after a prefix or `at` tokens otherwise."""
    one_text("look_next", text)
    if not isinstance(model, LanguageModel):
        return view_next(as_translator(model), LookedAtPlace(text, prefix, at), steps, bars)
    if option := next((name for name, value in (("prefix", prefix), ("at", at)) if value is not None), None):
        raise Fault(f"--{option} is for translators; the next token of a language model follows its text.")
    return view_prompt(model, text, steps, bars)


def look_beam(model: Loaded, text: str, width: int | None, length_penalty: float | None) -> View:
    """Return a translator's beam as a tree."""
    return view_beam(as_translator(model), one_text("look_beam", text), width, length_penalty)


def look_contexts(model: Loaded, word: str, texts: Sequence[str]) -> View:
    """Return a view of the vectors of one word in several texts, layer by layer."""
    return View(word, DrawnContexts(word_contexts(word, list(embed_each(model.task, texts)))))


def look_examples(
    model: Loaded,
    text: str,
    count: int,
    states: Literal["encoder", "decoder"] | None = None,
    target: str | None = None,
    at: int | None = None,
    by: Measure = "cosine",
    from_lines: int = FROM_LINES,
    progress: Progress = silent,
) -> View:
    """Return a view of the training examples whose states are nearest to those of a text.

    A translator is asked about the tokens that it writes, or those of `target`; with the encoder's states, about the
    words that it reads. `at` chooses one of them.
    """
    places = places_of(model, text, states, target, at)
    nearest = nearest_examples(model, text, count, by, from_lines, places, progress)
    return View(show_word(text), DrawnExamples(nearest))
