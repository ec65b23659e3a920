"""Server messages in the language of the page: each pattern of the page matches one the server sends."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from syntax import PACKAGE, called_name, nodes_of_package

from regard.data.pictures.fitting import Expected, fit_picture_file, fitting_remark
from regard.viewing.texts import LANGUAGES, read_texts

SAYING = ("Fault", "TextFault", "TooLong", "TooLarge", "NotAnAnswer", "Refusal")
BY_NAME = "NotAnAnswer"  # takes its sentence from the texts of the page
ENGLISH = read_texts()["en"]
REFUSALS = [name for name in ENGLISH if name.startswith("refusals.") and name != "refusals.text"]


def filled(text: str | dict[str, str]) -> str:
    """Return a text with a value in each placeholder."""
    assert isinstance(text, str)
    return re.sub(r"\{\w+\}", "7", text)


def said_sentences() -> Iterator[str]:
    """Return the sentences of all refusals in the code as patterns with wildcards for placeholders."""
    for node in nodes_of_package():
        if isinstance(node, ast.Call) and called_name(node) in SAYING:
            for argument in node.args:
                if called_name(node) == BY_NAME and isinstance(argument, ast.Constant):
                    yield re.escape(filled(ENGLISH[f"refusals.{argument.value}"]))
                if (pattern := pattern_of(argument)) is not None:
                    yield pattern


def pattern_of(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(pattern_of(part) or "" for part in parts)
        case ast.FormattedValue():
            return "(.+)"
    return None


@pytest.fixture(scope="module")
def said() -> list[re.Pattern[str]]:
    return [re.compile(pattern, re.DOTALL) for pattern in said_sentences() if re.search(r"[a-z]{3}", pattern)]


@pytest.mark.parametrize("name", REFUSALS)
def test_the_server_says_what_the_page_translates(name: str, said: list[re.Pattern[str]]) -> None:
    """A sentence changed in the code but not in the texts would be shown in English."""
    text = ENGLISH[name]
    assert any(pattern.fullmatch(filled(text)) for pattern in said), text


def test_a_sentence_that_nobody_says_is_found(said: list[re.Pattern[str]]) -> None:
    assert not any(pattern.fullmatch("There are 7 dragons in the picture.") for pattern in said)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_descriptions_of_all_recipes_are_there(language: str) -> None:
    recipes = [tomllib.loads(path.read_text(encoding="utf-8")) for path in (PACKAGE / "recipes").glob("*.toml")]
    described = {recipe["description"] for recipe in recipes if recipe.get("description")}
    texts = {name: text for name, text in read_texts()[language].items() if name.startswith("descriptions.")}
    assert {ENGLISH[name] for name in texts} == described
    assert len(set(map(str, texts.values()))) == len(described)


@pytest.mark.parametrize("background", [0, 255])
def test_the_page_translates_the_changes_of_a_picture(background: int, tmp_path: Path) -> None:
    picture = np.full((40, 20, 3), 255 - background, np.uint8)
    picture[10:20, 5:10] = (background, 90, 90)
    Image.fromarray(picture).save(tmp_path / "drawing.png")
    expected = Expected((28, 28), background)
    changes = fit_picture_file(tmp_path / "drawing.png", expected).changes
    texts = [str(text) for name, text in ENGLISH.items() if name.startswith("fittings.")]
    patterns = [re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(text))) for text in texts]
    assert len(changes) == 4
    assert all(any(pattern.fullmatch(change) for pattern in patterns) for change in changes)
    remark = str(ENGLISH["fitting.remark"]).replace("{changes}", ", ".join(changes))
    assert remark == fitting_remark(tmp_path / "drawing.png", expected).replace(
        str(tmp_path / "drawing.png"), "The picture"
    )
