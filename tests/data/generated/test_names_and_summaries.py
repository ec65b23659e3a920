"""Generated corpora with words that can only be copied: names and numbers in translations and summaries."""

import pytest

from regard.data.demo.draws import Dice
from regard.data.generated.corpora import generate
from regard.data.generated.invented import invent_name, invent_number
from regard.data.tokenisers.words import split_words


def new_words(corpus: str) -> set[str]:
    """Return the words of the test targets that occur in no other split; validation is the smallest."""
    vocabulary = {word for pair in generate(f"{corpus}:valid") for text in pair for word in split_words(text)}
    return {word for _, target in generate(f"{corpus}:test") for word in split_words(target)} - vocabulary


def test_a_split_has_names_and_numbers_of_its_own() -> None:
    names = {
        split: {invent_name(split, Dice(1)) for _ in range(200)} | {invent_number(split, Dice(2), 1, 60)}
        for split in ("train", "valid", "test")
    }
    assert not names["train"] & (names["valid"] | names["test"])
    assert int(invent_number("test", Dice(3), 1, 60)) % 5 == 0
    assert int(invent_number("valid", Dice(3), 1, 60)) % 5 == 1


@pytest.mark.parametrize("corpus", ["names", "summaries"])
def test_every_new_word_stands_in_the_source(corpus: str) -> None:
    new = new_words(corpus)
    assert len(new) > 500
    for source, target in generate(f"{corpus}:test"):
        assert new & set(split_words(target)) <= set(split_words(source))


def test_the_first_sentences_of_a_report_are_no_summary() -> None:
    """The first three sentences of a report have less than a third of its summary's new words."""
    new = new_words("summaries")
    there = total = 0
    for report, summary in generate("summaries:test"):
        facts = new & set(split_words(summary))
        lead = set(split_words(" ".join(report.split(". ")[:3])))
        there, total = there + len(facts & lead), total + len(facts)
    assert 0 < there < total / 3


def test_pairs_are_as_the_grammar_says() -> None:
    source, target = generate("names:valid")[0]
    assert generate("names:valid")[0] == (source, target)
    assert len({source for source, _ in generate("names:test")}) == 1000
    report, summary = generate("summaries:test")[0]
    assert report.count(". ") >= 12
    assert summary.endswith(".")
