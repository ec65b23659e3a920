"""Codes and names of languages, and finding out which one a text is in."""

import pytest

from regard.serving.languages import Detector, find_code, has_words, name_of


@pytest.mark.parametrize(
    ("asked", "known", "found"),
    [
        ("pt", ["en", "pt"], "pt"),
        ("PT", ["en", "pt"], "pt"),
        ("pt-BR", ["en", "pt"], "pt"),
        ("pt_br", ["en", "pt"], "pt"),
        ("pb", ["pt", "pt-BR"], "pt-BR"),
        ("pt", ["pt-BR"], "pt-BR"),
        ("pt-PT", ["pt-BR", "pt"], "pt-BR"),
        ("zh-Hans", ["zh-Hant", "zh"], "zh"),
        ("zh-TW", ["zh", "zh-Hant"], "zh-Hant"),
        ("zt", ["zh-Hans", "zh-Hant"], "zh-Hant"),
        ("nb", ["no"], "no"),
        ("fr", ["en", "pt"], None),
        ("", ["en"], None),
    ],
)
def test_a_code_means_the_nearest_language(asked: str, known: list[str], found: str | None) -> None:
    assert find_code(asked, known) == found


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("ru", "Russian"),
        ("pt-BR", "Portuguese (Brazil)"),
        ("zh-Hant", "Chinese (traditional)"),
        ("xq", "xq"),
        ("src", ""),
        ("", ""),
    ],
)
def test_a_language_has_a_name(code: str, name: str) -> None:
    assert name_of(code) == name


@pytest.mark.parametrize(
    ("text", "is_so"), [("a", True), ("7", True), ("я", True), ("字", True), ("🙂 !", False), ("", False)]
)
def test_words_have_letters_or_digits(text: str, is_so: bool) -> None:
    assert has_words(text) == is_so


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector(["en", "pt-BR", "ru", "src"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The boys read the new books at home.", "en"),
        ("Os meninos leem os livros novos em casa.", "pt-BR"),
        ("Мальчики читают дома новые книги.", "ru"),
    ],
)
def test_a_language_is_found(detector: Detector, text: str, language: str) -> None:
    best, *others = detector(text)
    assert best.language == language
    assert best.confidence > 80
    assert all(other.confidence <= best.confidence for other in others)


def test_only_languages_that_come_into_question_are_found(detector: Detector) -> None:
    assert [guess.language for guess in detector("Мальчики читают дома.", ["en"])] == ["en"]
    assert detector("Мальчики читают дома.", ["fr"]) == []
    assert Detector(["src", "tgt"])("The boys read.") == []


@pytest.mark.parametrize("text", ["", "🙂", "42", "  \n"])
def test_nothing_to_go_by_is_confidence_0(detector: Detector, text: str) -> None:
    assert [guess.confidence for guess in detector(text)] == [0.0]
