"""Generated opinions: each label follows from its words, and test texts are never in the training data."""

from regard.data.generated.corpora import generated_opinions
from regard.data.generated.opinions import BAD, DEEDS, GOOD, QUALITIES, SIZES, opinion_corpus

IS_GOOD = {what.split()[-1]: is_good for _, what, is_good in DEEDS}
SENTENCE = "Еда была вкусная и мы не разочаровались."


def opinion_of(part: str) -> bool:
    """Return True if one part is good, by its predicate and by не."""
    *before, last = part.split()
    stems = [is_good for stem, _, is_good in QUALITIES if last.startswith(stem)]
    return (stems[0] if stems else IS_GOOD[last]) != ("не" in before)


def label_of(text: str) -> str:
    """Return the label of an opinion by the rules, from the text alone."""
    whole = text.lower().rstrip(".")
    for marker, deciding in ((", но ", 1), (", хотя ", 0), (" и ", 0), (", ", 0)):
        if marker in whole:
            return GOOD if opinion_of(whole.split(marker)[deciding]) else BAD
    return GOOD if opinion_of(whole) else BAD


def test_every_label_follows_from_the_words() -> None:
    for split, opinions in opinion_corpus().items():
        assert len(opinions) == SIZES[split]
        assert [label for label, _ in opinions] == [label_of(text) for _, text in opinions]


def test_both_labels_and_all_markers_are_common() -> None:
    train = opinion_corpus()["train"]
    assert 0.4 < sum(label == GOOD for label, _ in train) / len(train) < 0.6
    for marker in (" и ", ", но ", ", хотя "):
        assert sum(marker in text for _, text in train) > len(train) / 10


def test_no_text_stands_in_two_splits_and_some_words_meet_in_the_test_alone() -> None:
    splits = {split: {text for _, text in opinions} for split, opinions in opinion_corpus().items()}
    assert len(set.union(*splits.values())) == sum(SIZES.values())
    learnt = splits["train"] | splits["valid"]
    assert not any("вкусн" in text and "разочаровались" in text for text in learnt)
    assert any("вкусн" in text and "разочаровались" in text for text in splits["test"])
    assert label_of(SENTENCE) == GOOD


def test_a_recipe_names_its_splits() -> None:
    assert generated_opinions("opinions-ru:valid") == opinion_corpus()["valid"]
    assert generated_opinions("reviews.txt") is None
