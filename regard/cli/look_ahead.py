"""The views of `regard look` on what a model may write: the beam as a tree, and the next token.

Each goes to the file that is named, by its suffix, or to the terminal, and gives the characters that no font can draw.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.files import finite, write_file
from regard.base.recipe import check
from regard.cli.console import remark, terminal_width, wants_colour
from regard.decoding.options import SamplingOptions
from regard.seeing.next_token import EXAMPLES, beam_tree, next_choices, prompt_choices
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate.model import TranslationModel
from regard.viewing.canvas import show_word
from regard.viewing.choices.page import ChoicesStart, write_choices_page
from regard.viewing.choices.picture import draw_choices
from regard.viewing.choices.record import Choices, choices_to_json
from regard.viewing.choices.terminal import choices_lines
from regard.viewing.tree.page import write_tree_page
from regard.viewing.tree.picture import draw_tree
from regard.viewing.tree.record import tree_to_json
from regard.viewing.tree.terminal import tree_lines

NAMED = 50  # tokens that a page can show at least


@dataclass(frozen=True)
class LookedAtPlace:
    """Where the next token is: after a prefix, or after so many tokens of the best output."""

    text: str
    prefix: str | None
    at: int | None


def show_beam(
    model: TranslationModel, text: str, out: Path | None, width: int | None = None, length_penalty: float | None = None
) -> set[str]:
    """The beam as a tree."""
    tree = beam_tree(model, text, width, length_penalty)
    remark(f"{show_word(text)} → {show_word(''.join(tree.nodes[place].text for place in tree.outputs[:1]))}")
    if out is None:
        _print(tree_lines(tree, terminal_width(), wants_colour(sys.stdout)))
    elif _is(".json", out):
        _write_json(tree_to_json(tree), out)
    elif _is(".html", out):
        write_tree_page(tree, out, _languages(model))
    else:
        return draw_tree(tree, out)
    return set()


def show_next(
    model: TranslationModel, place: LookedAtPlace, out: Path | None, steps: dict[str, float], bars: int
) -> set[str]:
    """The next token: the model's own distribution, and what these steps of sampling, or some examples, make of it."""
    check(SamplingOptions, dict(steps), "the sampling")
    is_page = _is(".html", out)
    choices = next_choices(model, place.text, place.prefix, place.at, steps, max(bars, NAMED) if is_page else bars)
    remark(f"{show_word(place.text)} → {f'{show_word(choices.written)} ' if choices.written else ''}…")
    return _show_choices(choices, out, _languages(model), ChoicesStart(steps, EXAMPLES, bars))


def show_next_of_prompt(
    model: LanguageModel, prompt: str, out: Path | None, steps: dict[str, float], bars: int
) -> set[str]:
    """The same after a prompt, for a language model."""
    choices = prompt_choices(model, prompt, steps, max(bars, NAMED) if _is(".html", out) else bars)
    remark(f"{show_word(prompt)} …" if prompt else "…")
    return _show_choices(choices, out, ("", ""), ChoicesStart(steps, EXAMPLES, bars))


def _show_choices(choices: Choices, out: Path | None, languages: tuple[str, str], start: ChoicesStart) -> set[str]:
    if out is None:
        _print(choices_lines(choices, terminal_width(), wants_colour(sys.stdout)))
    elif _is(".json", out):
        _write_json(choices_to_json(choices), out)
    elif _is(".html", out):
        write_choices_page(choices, out, languages, start)
    else:
        return draw_choices(choices, out)
    return set()


def _is(suffix: str, out: Path | None) -> bool:
    return out is not None and out.suffix.lower() == suffix


def _languages(model: TranslationModel) -> tuple[str, str]:
    data = model.recipe.data
    return data.source_language, data.target_language


def _print(lines: list[str]) -> None:
    print("\n".join(lines))


def _write_json(value: dict[str, Any], out: Path) -> None:
    text = json.dumps(finite(value), ensure_ascii=False, indent=1, allow_nan=False)
    write_file(out, f"{text}\n".encode(errors="backslashreplace"))
