"""Views of a model at work: from what it reads to what it looked at, what it may write next, and its beam."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.base.progress import Remark, ignore_remark
from regard.base.recipe import check
from regard.decoding.options import SamplingOptions
from regard.loading import Loaded
from regard.protocols import Follows
from regard.seeing.gazes import Sight, see_input
from regard.seeing.lessons.gates import gates_of
from regard.seeing.next_token import EXAMPLES, beam_tree, choices_along, next_choices, prompt_choices
from regard.seeing.sentences import Translator, see
from regard.viewing import page, tree
from regard.viewing.canvas import show_word
from regard.viewing.choices import Choices, ChoicesStart, DrawnChoices
from regard.viewing.drawers import drawing_of
from regard.viewing.gates import DrawnGates
from regard.viewing.looks import LooksBetween
from regard.viewing.page import Start
from regard.viewing.sealed import SealedPage
from regard.viewing.view import Drawing, DrawingRequest, View

BARS = 12  # tokens that are shown of a distribution, when nobody says how many
NAMED = 50  # tokens that a page can show at least


@dataclass(frozen=True)
class LookedAtPlace:
    """Where the next token is: after a prefix, or after so many tokens of the best output."""

    text: str
    prefix: str | None = None
    at: int | None = None


def view_answer(
    model: Loaded, given: str, side: str | None, wanted: DrawingRequest, speaker: str | None = None
) -> View:
    """Look at a model while it read, answered or spoke; a model with gates shows those."""
    sight = see_input(model.task, given, speaker)
    if not sight.looks and isinstance(model.task, Follows) and side is None:
        gates = gates_of(model, given, wanted.layer, by_word=not wanted.tokens)
        return View(_heading(sight), DrawnGates(gates))
    looks = sight.between(side)
    return View(_heading(sight), drawing_of(looks, wanted), _about(looks))


def view_translation(
    model: Translator,
    text: str,
    target: str | None,
    side: str | None,
    wanted: DrawingRequest,
    remark: Remark = ignore_remark,
) -> View:
    """Look at a translator; its page also has the alternatives at each place and the beam."""
    sight = see(model, text, target)
    looks = sight.between(side)
    sight.seen(looks.name).one(wanted.layer, wanted.head)  # what is to be shown must be there
    mode: Literal["words", "tokens"] = "tokens" if wanted.tokens else "words"
    start = Start(looks.name, wanted.layer, wanted.head or wanted.heads or "mean", mode)
    drawing = _DrawnTranslation(drawing_of(looks, wanted), model, sight, start, remark)
    return View(_heading(sight), drawing, _about(looks))


def view_beam(model: Translator, text: str, width: int | None = None, length_penalty: float | None = None) -> View:
    """The beam as a tree."""
    beam = beam_tree(model, text, width, length_penalty)
    best = "".join(beam.nodes[place].text for place in beam.outputs[:1])
    return View(f"{show_word(text)} → {show_word(best)}", tree.DrawnTree(beam, _languages(model)))


def view_next(model: Translator, place: LookedAtPlace, steps: Mapping[str, float], bars: int = BARS) -> View:
    """The next token: the model's own distribution, and what these steps of sampling, or some examples, make of it."""
    check(SamplingOptions, dict(steps), "the sampling")
    choices = next_choices(model, place.text, place.prefix, place.at, dict(steps), max(bars, NAMED))
    written = f"{show_word(choices.written)} " if choices.written else ""
    return _of_choices(f"{show_word(place.text)} → {written}…", choices, steps, bars, _languages(model))


def view_prompt(model: Loaded, prompt: str, steps: Mapping[str, float] | None = None, bars: int = BARS) -> View:
    """Show the next token after a prompt, for a language model."""
    choices = prompt_choices(model, prompt, dict(steps or {}), max(bars, NAMED))
    return _of_choices(f"{show_word(prompt)} …" if prompt else "…", choices, steps or {}, bars)


def sight_page(model: Translator, sight: Sight, start: Start, remark: Remark = ignore_remark) -> SealedPage:
    """The page of all that can be seen of a sentence, without what would make it too large."""
    target, (written,) = model.task.target_for(sight.text), sight.outputs
    words, tokens = (sight.every(by_word) for by_word in (True, False))
    if page.fits(words) and not page.fits([*words, *tokens]):
        remark(f"The page shows words alone: with the tokens it would have more than {page.MOST_WEIGHTS:,} weights.")
        tokens = []
    beam = beam_tree(model, sight.text)
    if len(beam.nodes) > tree.MOST_NODES:
        remark(f"The page omits the beam: it has more than {tree.MOST_NODES:,} hypotheses.")
    scene = page.PageScene(
        sight.text,
        sight.output,
        words,
        tokens,
        _languages(model),
        start,
        target.pieces([*written, model.task.end]),
        choices_along(model, sight.text, written),
        beam if len(beam.nodes) <= tree.MOST_NODES else None,
    )
    return page.scene_page(scene)


@dataclass(frozen=True)
class _DrawnTranslation:
    """A drawing of what a translator looked at, whose page has all that can be seen of the sentence."""

    drawing: Drawing
    model: Translator
    sight: Sight
    start: Start
    remark: Remark

    def draw(self, path: Path) -> set[str]:
        return self.drawing.draw(path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return self.drawing.lines(width, colour)

    def numbers(self) -> dict[str, Any]:
        return self.drawing.numbers()

    def page(self) -> SealedPage:
        return sight_page(self.model, self.sight, self.start, self.remark)


def _of_choices(
    heading: str, choices: Choices, steps: Mapping[str, float], bars: int, languages: tuple[str, str] = ("", "")
) -> View:
    return View(heading, DrawnChoices(choices, ChoicesStart(steps, EXAMPLES, bars), languages))


def _languages(model: Translator) -> tuple[str, str]:
    return model.recipe.data.source_language, model.recipe.data.target_language


def _heading(sight: Sight) -> str:
    """Return a heading: the input, of a story its last line, and the output."""
    text = show_word(sight.text.strip().rpartition(chr(10))[2])
    return f"{text} → {show_word(sight.output)}" if sight.output else text


def _about(looks: LooksBetween) -> dict[str, Any]:
    return {"text": looks.text, "output": looks.output, "side": looks.name}
