"""The texts of pages: the same in every language, all used, and no page text elsewhere."""

import re
from pathlib import Path

import pytest

from regard.serving.static import page_files
from regard.viewing.modules import PAGE, join_modules
from regard.viewing.texts import LANGUAGES, read_texts, texts_of

# Plural categories of each language (CLDR). Portuguese "many" is for millions and reads as "other".
FORMS = {"en": {"one", "other"}, "pt": {"one", "other"}, "ru": {"one", "few", "many", "other"}}
SOURCES = [path for path in Path(str(PAGE)).rglob("*") if path.suffix in (".js", ".html")]
ENTRIES = sorted(f"views/{path.name}" for path in SOURCES if path.match("views/*-page.js"))
TEXTS = read_texts()
FIELD = {"pt": {"prompt", "encoder", "decoder", "pooling", "glimpse"}, "ru": {"seed"}}
GROUPS = ("refusals", "descriptions", "fittings")  # in which a script looks up server messages
# Capitalised words that are never shown: keys, headers, names of the browser.
UNSEEN = re.compile(r"Arrow\w*|Enter|Escape|Home|End|AbortError|Content-Type|Retry-After")


def forms(entry: str | dict[str, str]) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry.values())


def gaps(entry: str | dict[str, str]) -> set[str]:
    """Return the placeholders of a text, in any of its forms."""
    return {name for form in forms(entry) for name in re.findall(r"\{(\w+)\}", form)}


def _said(text: str) -> str:
    return re.sub(r"\{\w+\}", "", text)


def test_all_languages_have_the_same_texts_with_the_same_gaps() -> None:
    first, *others = (TEXTS[language] for language in LANGUAGES)
    for other in others:
        assert list(other) == list(first)
        for name, text in other.items():
            if name.startswith("refusals."):  # a translation need not repeat all server messages
                assert gaps(text) <= gaps(first[name]), name
            else:
                assert gaps(text) == gaps(first[name]), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_that_depends_on_a_number_has_every_form_of_the_language(language: str) -> None:
    for name, entry in TEXTS[language].items():
        if isinstance(entry, dict):
            assert set(entry) == FORMS[language], name
            assert "count" in gaps(entry), name
        assert all(form.strip() and "$" not in form for form in forms(entry)), name


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_texts_are_translated(language: str) -> None:
    """A text that is the same in two languages is a name, a unit, a placeholder, or a term without translation."""
    texts, english = TEXTS[language], TEXTS["en"]
    same = {name for name in texts if texts[name] == english[name]}
    words = {
        word.lower() for name in same for form in forms(texts[name]) for word in re.findall(r"\w{4,}", _said(form))
    }
    names = {"byte", "token", "tokens", "link", "regard", "json", "bleu", "chrf"}
    assert words <= names | FIELD[language]


def names_in(script: str) -> set[str]:
    return set(re.findall(r'"(\w+\.\w+)"', script)) & set(TEXTS["en"])


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_offline_page_holds_the_texts_of_its_scripts_and_not_those_of_others(entry: str) -> None:
    script = join_modules(entry)
    sealed = texts_of(script)
    assert names_in(script) <= set(sealed["en"])
    assert {name.partition(".")[0] for name in sealed["ru"]} <= set(re.findall(r'["`](\w+)\.', script))
    assert not any(name.startswith(("refusals.", "docs.", "desks.")) for name in sealed["en"])


@pytest.mark.parametrize("entry", ["onefile/page.js", "onefile/writing-page.js", "onefile/answering-page.js"])
def test_a_model_in_one_file_is_described_in_every_language(entry: str) -> None:
    sealed = texts_of(join_modules(entry))
    assert sealed["ru"]["descriptions.demo"] == TEXTS["ru"]["descriptions.demo"]


def test_no_text_stands_twice_in_a_language() -> None:
    for language in LANGUAGES:
        names = re.findall(r'^ "([\w.]+)":', (Path(str(PAGE)) / "texts" / f"{language}.json").read_text("utf-8"), re.M)
        assert len(set(names)) == len(names) == len(TEXTS[language])


def test_every_text_is_used_and_every_name_that_is_used_is_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    named = set(re.findall(r'"(\w+\.\w+)"', source)) | {"noscript.page", "noscript.desks"}
    templates = [re.escape(name) for name in re.findall(r"`(\w+\.[\w${}.? \"[\]]*)`", source)]
    patterns = [re.compile(re.sub(r"\\\$\\\{.*?\\\}", r"\\w+", name)) for name in templates]
    table = TEXTS["en"]
    unused = [name for name in table if name not in named and not any(pattern.fullmatch(name) for pattern in patterns)]
    assert [name for name in unused if name.partition(".")[0] not in GROUPS] == []
    assert all(f'"{group}"' in source for group in GROUPS)
    called = set(re.findall(r'(?:say|sayParts)\("([^"]+)"', source))
    called |= set(re.findall(r'data-say(?:-label|-hint)?="([^"]+)"', source))
    assert called <= set(table)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(str(PAGE))))
def test_no_text_stands_in_a_script_or_in_the_frame_of_a_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        shown = re.sub(r"<(title|script)[^>]*>.*?</\1>|<style>.*?</style>|<[^>]*>|\$\w+", " ", text)
        assert set(re.findall(r"[^\W\d_]{2,}", shown)) <= {"regard"}
        assert not re.search(r'(aria-label|placeholder|title|alt)="', text)
        return
    code = re.sub(r"/\*.*?\*/|^\s*//.*$|\s// .*$", "", text, flags=re.DOTALL | re.MULTILINE)
    for literal in re.findall(r'"([^"\n]*)"|`([^`]*)`', code):
        shown = re.sub(r"\$\{[^}]*\}", "", "".join(literal))
        if UNSEEN.fullmatch(shown):
            continue
        assert not re.search(r"^[A-Z][a-z]|[a-z] [a-z]+[.,;:]|[a-z][.!?] ", shown), literal


def test_the_served_page_holds_all_languages_and_says_without_scripts_what_it_needs() -> None:
    text = page_files()["index.html"].content.decode()
    for language in LANGUAGES:
        assert f'<p lang="{language}">{TEXTS[language]["noscript.desks"]}</p>' in text
    assert text.isascii() is False
    assert "$" not in re.sub(r"<script.*?</script>", "", text)
