"""Labels of words: those that the grammar knows, and those of tagged files."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.data.demo.labels import labelled_pairs
from regard.data.word_labels import LabelledSentence, positions, read_tagged


def pair_with(text: str, corpus: str = "demo", count: int = 60) -> tuple[LabelledSentence, LabelledSentence]:
    return next(pair for pair in labelled_pairs("train", corpus, count) if pair[0].text == text)


def test_a_sentence_by_hand() -> None:
    english, portuguese = pair_with("I see the white house.")
    assert english.words == ["I", "see", "the", "white", "house."]
    assert english.labels["tags"] == ["pronoun", "verb", "determiner", "adjective", "noun"]
    assert english.labels["number"] == ["singular"] * 5
    assert english.labels["gender"] == [None, None, "feminine", "feminine", "feminine"]
    assert english.labels["position"] == ["1", "2", "3", "4", "5"]
    assert english.links["verb-subject"] == [(1, 0)]
    assert portuguese.text == "Eu vejo a casa branca."
    assert portuguese.labels["tags"] == ["pronoun", "verb", "determiner", "noun", "adjective"]


def test_every_word_has_a_place_in_every_list_of_labels() -> None:
    for corpus in ("demo", "demo-ru", "demo-pronouns", "demo-pronouns-ru"):
        for pair in labelled_pairs("train", corpus, 200):
            for sentence in pair:
                assert {len(labels) for labels in sentence.labels.values()} == {len(sentence.words)}
                assert sentence.text.split() == sentence.words
                links = [link for kind in sentence.links.values() for link in kind]
                assert all(max(link) < len(sentence.words) for link in links)


def test_a_pronoun_has_the_gender_of_its_antecedent_in_the_other_language() -> None:
    genders = {"pt": set[tuple[str, str | None]](), "ru": set[tuple[str, str | None]]()}
    for language, corpus in (("pt", "demo-pronouns"), ("ru", "demo-pronouns-ru")):
        for english, _ in labelled_pairs("train", corpus, 300):
            for pronoun, noun in english.links.get("antecedent", ()):
                assert english.labels["gender"][pronoun] == english.labels["gender"][noun]
                genders[language].add((english.words[pronoun].lower().strip("."), english.labels["gender"][pronoun]))
    assert {("it", "masculine"), ("it", "feminine")} <= genders["pt"]
    assert ("it", "neuter") in genders["ru"]
    assert ("it", "neuter") not in genders["pt"]


def test_positions_at_the_end_of_long_sentences_are_one_class() -> None:
    assert positions(3) == ["1", "2", "3"]
    assert positions(11)[7:] == ["8", "9+", "9+", "9+"]


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("joined.txt", "O_ART menino_N dorme_V\nEla_PRO lê_V\n", None),
        ("columns.conll", "O ART\nmenino N\ndorme V\n\nEla PRO\nlê V\n", None),
        ("three.conll", "O x ART\nmenino x N\ndorme x V\n\nEla x PRO\nlê x V\n", "1:3"),
    ],
)
def test_tagged_files(tmp_path: Path, name: str, content: str, columns: str | None) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    first, second = read_tagged(str(tmp_path / name), 10, columns)
    assert first.words == ["O", "menino", "dorme"]
    assert first.labels == {"tags": ["ART", "N", "V"], "position": ["1", "2", "3"]}
    assert second.text == "Ela lê"
    assert len(read_tagged(str(tmp_path / name), 1, columns)) == 1


def test_tagged_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"There is no file nowhere\.conll"):
        read_tagged("nowhere.conll", 10)
    (tmp_path / "empty.conll").write_text("", encoding="utf-8")
    with pytest.raises(Fault, match="has no tagged sentence"):
        read_tagged(str(tmp_path / "empty.conll"), 10)
    (tmp_path / "one.conll").write_text("a b\n", encoding="utf-8")
    with pytest.raises(Fault, match="expected a word and a tag"):
        read_tagged(str(tmp_path / "one.conll"), 10, "1")
