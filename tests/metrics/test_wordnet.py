"""WordNet in the catalogue, and reading it."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.catalogue.entries import find
from regard.data.catalogue.get import get
from regard.metrics.wordnet import WordNet, wordnet

NONE: dict[str, dict[str, tuple[int, ...]]] = {part: {} for part in ("noun", "verb", "adj", "adv")}
NO_EXCEPTIONS: dict[str, dict[str, tuple[str, ...]]] = {part: {} for part in NONE}


def test_the_catalogue_has_the_files_that_are_read() -> None:
    expected = {name for part in NONE for name in (f"index.{part}", f"{part}.exc")}
    assert {file.path for file in find("wordnet").files} == expected


def test_other_files_than_princetons_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    (tmp_path / "own").mkdir()
    for file in find("wordnet").files:
        (tmp_path / "own" / file.path).write_text("dog n 1 0 1 0 00000001\n", encoding="utf-8")
    with pytest.raises(Fault, match="wordnet"):
        get("wordnet", tmp_path / "own", silent)
    assert wordnet() is None


@pytest.mark.parametrize(
    ("part", "form", "base"),
    [
        ("noun", "dogs", "dog"),
        ("noun", "boxes", "box"),
        ("noun", "churches", "church"),
        ("noun", "firemen", "fireman"),
        ("noun", "ladies", "lady"),
        ("verb", "tries", "try"),
        ("verb", "loved", "love"),
        ("verb", "jumped", "jump"),
        ("verb", "loving", "love"),
        ("adj", "finer", "fine"),
        ("adj", "tallest", "tall"),
    ],
)
def test_regular_forms_lose_their_endings(part: str, form: str, base: str) -> None:
    words = WordNet(NONE | {part: {base: (7,)}}, NO_EXCEPTIONS)
    assert words.meanings(form) == words.meanings(base) == {(part, 7)}


def test_adverbs_have_no_forms() -> None:
    words = WordNet(NONE | {"adv": {"fast": (7,)}}, NO_EXCEPTIONS)
    assert words.meanings("fasts") == words.meanings("faster") == frozenset()


def test_an_irregular_form_has_no_regular_reading() -> None:
    words = WordNet(
        NONE | {"noun": {"axis": (1,), "ax": (2,), "axe": (3,)}}, NO_EXCEPTIONS | {"noun": {"axes": ("axis",)}}
    )
    assert words.meanings("axes") == {("noun", 1)}
