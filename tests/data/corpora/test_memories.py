"""Translation memories: TMX and XLIFF files as pairs, and what is refused."""

import gzip
import logging
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.data.corpora import memories
from regard.data.corpora.memories import usual_languages
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs

HEADER = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="{}"/><body>\n'


def tmx(*units: dict[str, str], source: str = "en-US", attribute: str = "xml:lang") -> str:
    """A memory with a unit on each line."""
    body = (
        "<tu>" + "".join(f'<tuv {attribute}="{language}"><seg>{text}</seg></tuv>' for language, text in unit.items())
        for unit in units
    )
    return HEADER.format(source) + "".join(f"{unit}</tu>\n" for unit in body) + "</body></tmx>\n"


CATS = {"pt-BR": "O gato.", "en-US": "The cat."}
DOGS = {"en-US": "The dog.", "pt-BR": "O cão."}


def pairs_of(path: Path, columns: str | list[str] | None = None) -> list[tuple[str, str]]:
    return list(read_pairs(Corpus(pairs=str(path), columns=columns)))


def written(folder: Path, content: str, name: str = "memory.tmx") -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


# What is read


def test_the_source_language_comes_first_whatever_the_order_in_the_units(tmp_path: Path) -> None:
    path = written(tmp_path, tmx(CATS, DOGS))
    assert pairs_of(path) == [("The cat.", "O gato."), ("The dog.", "O cão.")]
    assert pairs_of(path, "pt:en") == [("O gato.", "The cat."), ("O cão.", "The dog.")]
    assert usual_languages("memory.tmx", path) == ("en", "pt")


def test_a_language_finds_itself_before_its_varieties(tmp_path: Path) -> None:
    unit = {"en-GB": "colour", "en": "hue", "EN_us": "color", "eng": "other", "pt": "cor"}
    path = written(tmp_path, tmx(unit))
    assert pairs_of(path, "en:pt") == [("hue", "cor")]
    assert pairs_of(path, "en-us:pt") == [("color", "cor")]
    assert pairs_of(path, ["eng", "pt"]) == [("other", "cor")]
    assert pairs_of(written(tmp_path, tmx({"en-GB": "colour", "pt": "cor"})), "en:pt") == [("colour", "cor")]


def test_formatting_is_left_out_and_the_text_inside_it_stays(tmp_path: Path) -> None:
    marked = (
        'A <bpt i="1">&lt;b class="<sub>x</sub>"&gt;</bpt><hi>very</hi> <it pos="begin">[1]</it>good<ept i="1">&lt;/b'
        "&gt;</ept> cat<ph/>,\r\n    5 &lt; 6 &amp; <![CDATA[<7>]]>  "
    )
    path = written(tmp_path, tmx({"en": marked, "pt": "cafe\u0301"}))
    assert pairs_of(path) == [("A very good cat, 5 < 6 & <7>", "café")]


def test_units_without_a_language_are_skipped_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path, tmx(CATS, {"en-US": "Alone."}, {"en-US": "Empty.", "pt-BR": " "}, DOGS))
    with caplog.at_level(logging.WARNING):
        assert len(pairs_of(path)) == 2
    assert caplog.messages == [f"{path}: 2 of 4 units skipped, without a text in 'pt'"]


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-8-sig", "utf-8"),
        ("utf-8", "UTF8"),
        ("windows-1251", "windows-1251"),
        ("shift_jis", "Shift_JIS"),
    ],
)
def test_the_encoding_is_that_of_the_file(tmp_path: Path, encoding: str, declared: str) -> None:
    content = tmx({"ru": "Кошка спит.", "en": "The cat sleeps."}, source="ru")
    content = content.replace('version="1.0"', f'version="1.0" encoding="{declared}"')
    (tmp_path / "memory.tmx").write_bytes(content.encode(encoding))
    assert pairs_of(tmp_path / "memory.tmx") == [("Кошка спит.", "The cat sleeps.")]


def test_old_and_packed_memories(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "memory.tmx.gz", "wt", encoding="utf-8") as file:
        file.write(tmx(DOGS, attribute="lang"))
    assert pairs_of(tmp_path / "memory.tmx.gz") == [("The dog.", "O cão.")]


def test_the_first_version_of_xliff(tmp_path: Path) -> None:
    units = (
        '<trans-unit id="1"><source>Hi <g id="1">there</g><x id="2"/>!</source><seg-source>Hi</seg-source>'
        '<target xml:lang="pt-BR">Oi<ph id="1">{0}</ph>, você!</target>'
        "<alt-trans><source>proposed</source><target>proposto</target></alt-trans></trans-unit>"
        '<trans-unit id="2"><source>Not yet</source><target/></trans-unit>'
    )
    head = (
        '<xliff version="1.2"><file source-language="en" target-language="pt" original="a" datatype="plaintext"><body>'
    )
    path = written(tmp_path, f"{head}{units}</body></file></xliff>", "a.xlf")
    assert pairs_of(path, "en:pt") == [("Hi there!", "Oi, você!")]


def test_the_second_version_of_xliff(tmp_path: Path) -> None:
    unit = (
        '<unit id="1"><mtc:matches><mtc:match><source>proposed</source><target>proposto</target></mtc:match>'
        "</mtc:matches>"
        '<originalData><data id="d">b</data></originalData>'
        '<segment><source>Hi <pc id="1">you</pc></source><target>Oi</target></segment>'
        "<ignorable><source> </source></ignorable>"
        "<segment><source>Bye</source><target>Tchau</target></segment></unit>"
    )
    path = written(
        tmp_path, f'<xliff version="2.0" srcLang="en" trgLang="pt"><file id="f">{unit}</file></xliff>', "a.xliff"
    )
    assert pairs_of(path) == [("Hi you", "Oi"), ("Bye", "Tchau")]


def test_elements_of_other_vocabularies_hold_no_texts(tmp_path: Path) -> None:
    """As in the files of two well-known tools, which keep hashes and proposals next to an empty target."""
    unit = (
        '<trans-unit id="1"><source>Hello</source><target><mrk mtype="seg" mid="1"/></target><sdl:seg-defs>'
        '<sdl:seg id="1"><sdl:value key="Hash">JdcxXyz=</sdl:value></sdl:seg></sdl:seg-defs><mq:inserted>'
        "<source>Hello</source><target>Proposta velha</target></mq:inserted></trans-unit>"
    )
    done = "<trans-unit><source>Yes</source><target>Sim</target></trans-unit>"
    head = '<xliff version="1.2"><file source-language="en" target-language="pt"><body>'
    path = written(tmp_path, f"{head}{unit}{done}</body></file></xliff>", "a.xlf")
    assert pairs_of(path) == [("Yes", "Sim")]


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        ("1.2", '<trans-unit><source>a</source><target state="needs-translation">a</target></trans-unit>'),
        ("1.2", '<trans-unit><source>a</source><target state="new">a</target></trans-unit>'),
        ("1.2", '<trans-unit translate="no"><source>a</source><target>a</target></trans-unit>'),
        ("2.0", '<unit><segment state="initial"><source>a</source><target>a</target></segment></unit>'),
        ("2.0", '<unit translate="no"><segment><source>a</source><target>a</target></segment></unit>'),
    ],
)
def test_what_is_not_translated_yet_is_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, head: str, unit: str
) -> None:
    languages = 'srcLang="en" trgLang="pt"' if head == "2.0" else ""
    file = "<file>" if head == "2.0" else '<file source-language="en" target-language="pt">'
    done = unit.replace(' translate="no"', "").replace("needs-translation", "final")
    done = done.replace("new", "final").replace("initial", "final")
    path = written(tmp_path, f'<xliff version="{head}" {languages}>{file}{unit}{done}</file></xliff>', "a.xliff")
    with caplog.at_level(logging.WARNING):
        assert pairs_of(path, "en:pt") == [("a", "a")]
    assert caplog.messages == [f"{path}: 1 of 2 units skipped, without a text in 'pt'"]


def test_each_file_of_an_xliff_file_has_its_own_languages(tmp_path: Path) -> None:
    def file(attributes: str, target: str) -> str:
        unit = f"<trans-unit><source>No</source><target>{target}</target></trans-unit>"
        return f'<file source-language="en" {attributes}>{unit}</file>'

    files = file('target-language="pt"', "Não") + file("", "Non") + file('target-language="fr"', "Non")
    path = written(tmp_path, f'<xliff version="1.2">{files}</xliff>', "a.xliff")
    assert pairs_of(path, "en:pt") == [("No", "Não")]
    assert pairs_of(path, "en:fr") == [("No", "Non")]


def test_the_first_of_several_texts_in_a_language_counts(tmp_path: Path) -> None:
    texts = (("en", "a"), ("en", "b"), ("pt", "c"))
    body = "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in texts)
    path = written(tmp_path, f'<t:tmx><header srclang="*all*"/><t:body><t:tu>{body}</t:tu></t:body></t:tmx>')
    assert pairs_of(path) == [("a", "c")]


def test_the_source_is_found_in_another_variety_or_spelling(tmp_path: Path) -> None:
    path = written(tmp_path, tmx({"PT": "gato", "EN": "cat"}, {"pt-br": "cão", "en_us": "dog"}, source="en-US"))
    assert usual_languages("memory.tmx", path) == ("en", "pt")
    assert pairs_of(path) == [("cat", "gato"), ("dog", "cão")]
    chinese = written(tmp_path, tmx({"zh-Hant": "貓", "zh-Hans": "猫"}, source="zh-Hans"))
    assert usual_languages("memory.tmx", chinese) == ("zh-Hans", "zh-Hant")


def test_many_units_without_a_translation_come_before_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "_PEEKED", 3)
    assert usual_languages("memory.tmx", written(tmp_path, tmx(*[{"en": "a"}] * 9, CATS))) == ("en", "pt")


# What is refused

BODY = '<tmx><body><tu><tuv xml:lang="en"><seg>{}</seg></tuv></tu></body></tmx>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1 is not well-formed XML: no element found."),
        ("<tmx>\n<body>\n<tu></body>", "line 3 is not well-formed XML: mismatched tag."),
        ("<html></html>", "is not a TMX file: its first element is <html>, not <tmx>."),
        ("<tmx/>", "has no texts; pairs need two languages."),
        (BODY.format("x"), "has texts in en alone; pairs need two languages."),
        (
            tmx({"en": "a", "pt": "b", "ru": "c"}),
            "has texts in en, pt, ru; choose two with --columns, as in --columns en:pt.",
        ),
        (tmx(CATS, attribute="x"), "line 4 ends a text whose language is unknown; its <tuv> needs xml:lang."),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "cannot be decoded: 'klingon' is no known encoding."),
        ('<!DOCTYPE tmx [<!ENTITY a "b">]><tmx/>', "line 1 declares the entity 'a', which could unpack to anything"),
        ('<?xml version="1.0" encoding="base64"?><tmx/>', "cannot be decoded: 'base64' is no known encoding."),
        ('<?xml version="1.0" encoding="ascii"?>' + BODY.format("é"), "near line 1 cannot be decoded: ordinal not in"),
        ('<!DOCTYPE tmx [<!ATTLIST hi x CDATA "long">]><tmx/>', "line 1 declares a default of the attribute 'x'"),
        (BODY.replace("en", "e" * 65).format("x"), "line 1 ends a text whose language has more than 64 letters"),
        (BODY.format("&nbsp;"), "line 1 is not well-formed XML: undefined entity."),
        ('<!DOCTYPE tmx SYSTEM "a.dtd">' + BODY.format("&nbsp;"), "has the entity 'nbsp', which XML does not define"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(Fault) as fault:
        pairs_of(path)
    assert words in str(fault.value)
    assert str(path) in str(fault.value)


def test_columns_are_languages(tmp_path: Path) -> None:
    path = written(tmp_path, tmx(CATS, DOGS))
    with pytest.raises(Fault, match="'fr'; it has en-US, pt-BR; choose with --columns, as in --columns en-US:"):
        pairs_of(path, "en:fr")
    with pytest.raises(Fault, match="choose them by name, not by the number 1"):
        pairs_of(path, "1:2")
    with pytest.raises(Fault, match="is a translation memory, which has no header"):
        list(read_pairs(Corpus(pairs=str(path), header=True)))
    with pytest.raises(Fault, match="is a TMX file, not lines of text"):
        list(read_pairs(Corpus(source=str(path), target=str(path))))


def test_texts_and_tags_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "_LONGEST", 1000)
    with pytest.raises(Fault, match="line 1 has a text of more than 1,000 characters"):
        usual_languages("memory.tmx", written(tmp_path, BODY.format("long " * 201)))
    with pytest.raises(Fault, match="has elements inside each other, more than 100 deep"):
        usual_languages("memory.tmx", written(tmp_path, BODY.format("<hi>" * 96)))
    with pytest.raises(Fault, match="has a tag or comment of more than 1,048,576 bytes"):
        usual_languages("memory.tmx", written(tmp_path, '<tmx note="' + "a\n" * 600_000 + '"/>'))


def test_white_space_and_tags_of_many_lines_take_little_time(tmp_path: Path) -> None:
    """Each of these took minutes when its time grew with the square of its length."""
    spaces = tmx({"en": "a" + " " * 300_000 + "b", "pt": "c\n" + " \n" * 100_000 + "d"})
    (pair,) = pairs_of(written(tmp_path, spaces))
    assert (pair[0][0], pair[0][-1], pair[1]) == ("a", "b", "c d")
    note = '<tmx note="' + "a\n" * 200_000 + '">' + tmx(CATS).partition('version="1.4">')[2]
    assert pairs_of(written(tmp_path, note)) == [("The cat.", "O gato.")]


def test_a_memory_may_be_one_long_line(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "memory.tmx.gz", "wt", encoding="utf-8") as file:
        file.write(tmx(*[CATS] * 5_000).replace("\n", ""))
    assert len(pairs_of(tmp_path / "memory.tmx.gz")) == 5_000
