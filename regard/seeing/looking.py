"""Views of a model at work: its attention, its next token, and its beam."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.attention.editing import editing
from regard.base.edits import Edits
from regard.base.progress import Remark, ignore_remark
from regard.base.recipe import check
from regard.decoding.options import SamplingOptions
from regard.loading import Loaded
from regard.protocols import Follows
from regard.seeing.gazes import Sight, see_input
from regard.seeing.lessons.gates import gates_of
from regard.seeing.next_token import EXAMPLES, beam_tree, choices_along, next_choices, prompt_choices
from regard.seeing.sentences import Translator, see
from regard.tasks import TASKS
from regard.viewing import page, tree
from regard.viewing.canvas import show_word
from regard.viewing.choices import Choices, ChoicesStart, DrawnChoices
from regard.viewing.drawers import drawing_of
from regard.viewing.gates import DrawnGates
from regard.viewing.looks import LooksBetween
from regard.viewing.page import Start
from regard.viewing.sealed import SealedPage
from regard.viewing.view import Drawing, DrawingRequest, View

BARS = 12  # tokens of a distribution shown by default
NAMED = 50  # minimum number of tokens that a page can show


@dataclass(frozen=True)
class LookedAtPlace:
    """The place of the next token: after a prefix, or after `at` tokens of the best output."""

    text: str
    prefix: str | None = None
    at: int | None = None


def view_answer(
    model: Loaded, item: str, side: str | None, request: DrawingRequest, speaker: str | None = None
) -> View:
    """Return a view of a model's attention while it reads, answers or speaks; without attention, of its gates."""
    sight = see_input(model.task, item, speaker)
    if not sight.looks and isinstance(model.task, Follows) and side is None:
        gates = gates_of(model, item, request.layer, by_word=not request.tokens)
        return View(_heading(sight), DrawnGates(gates))
    looks = sight.between(side)
    heading = _heading(sight, is_story=TASKS[model.recipe.task].reads == "story")
    return View(heading, drawing_of(looks, request), _about(looks))


def view_translation(
    model: Translator,
    text: str,
    target: str | None,
    side: str | None,
    request: DrawingRequest,
    remark: Remark = ignore_remark,
) -> View:
    """Return a view of a translator's attention; its page also has the alternatives at each place and the beam."""
    sight = see(model, text, target)
    looks = sight.between(side)
    sight.seen(looks.name).one(request.layer, request.head)  # refuses a block or head that does not exist
    mode: Literal["words", "tokens"] = "tokens" if request.tokens else "words"
    start = Start(looks.name, request.layer, request.head or request.heads or "mean", mode)
    drawing = DrawnTranslation(drawing_of(looks, request), model, sight, start, remark)
    return View(_heading(sight), drawing, _about(looks))


def view_beam(model: Translator, text: str, width: int | None = None, length_penalty: float | None = None) -> View:
    """Return a view of the beam as a tree."""
    beam = beam_tree(model, text, width, length_penalty)
    best = "".join(beam.nodes[place].text for place in beam.outputs[:1])
    return View(f"{show_word(text)} → {show_word(best)}", tree.DrawnTree(beam, _languages(model)))


def view_next(model: Translator, place: LookedAtPlace, steps: Mapping[str, float], bars: int = BARS) -> View:
    """Return a view of the next token: the model's distribution, and the effect of sampling steps or some examples."""
    check(SamplingOptions, dict(steps), "the sampling")
    choices = next_choices(model, place.text, place.prefix, place.at, dict(steps), max(bars, NAMED))
    written = f"{show_word(choices.written)} " if choices.written else ""
    return _of_choices(f"{show_word(place.text)} → {written}…", choices, steps, bars, _languages(model))


def view_prompt(model: Loaded, prompt: str, steps: Mapping[str, float] | None = None, bars: int = BARS) -> View:
    """Return a view of the next token after a prompt, for a language model."""
    choices = prompt_choices(model, prompt, dict(steps or {}), max(bars, NAMED))
    return _of_choices(f"{show_word(prompt)} …" if prompt else "…", choices, steps or {}, bars)


def sight_page(model: Translator, sight: Sight, start: Start, remark: Remark = ignore_remark) -> SealedPage:
    """Return the page with everything about a sentence, without parts that would make it too large."""
    target, (written,) = model.task.target_for(sight.text), sight.outputs
    words, tokens = (sight.every(by_word) for by_word in (True, False))
    if page.fits(words) and not page.fits([*words, *tokens]):
        remark(f"The page shows only words: with tokens it would have more than {page.MOST_WEIGHTS:,} weights.")
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
class DrawnTranslation:
    """A drawing of a translator's attention, whose page has everything about the sentence, under the same edits."""

    drawing: Drawing
    model: Translator
    sight: Sight
    start: Start
    remark: Remark
    edits: Edits | None = None

    def draw(self, path: Path) -> set[str]:
        return self.drawing.draw(path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return self.drawing.lines(width, colour)

    def numbers(self) -> dict[str, Any]:
        return self.drawing.numbers()

    def page(self) -> SealedPage:
        with editing(self.model, self.edits or []):
            return sight_page(self.model, self.sight, self.start, self.remark)


def _of_choices(
    heading: str, choices: Choices, steps: Mapping[str, float], bars: int, languages: tuple[str, str] = ("", "")
) -> View:
    return View(heading, DrawnChoices(choices, ChoicesStart(steps, EXAMPLES, bars), languages))


def _languages(model: Translator) -> tuple[str, str]:
    return model.recipe.data.source_language, model.recipe.data.target_language


def _heading(sight: Sight, is_story: bool = False) -> str:
    """Return a heading: the input, or the question that ends a story, and the output."""
    stripped = str(sight.text).strip()
    text = show_word(stripped.rpartition(chr(10))[2] if is_story else stripped)
    return f"{text} → {show_word(sight.output)}" if sight.output else text


def _about(looks: LooksBetween) -> dict[str, Any]:
    return {"text": looks.text, "output": looks.output, "side": looks.name}
