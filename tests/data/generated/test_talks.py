"""Generated conversations: the reply follows from the turns, and some names and towns never meet."""

from itertools import product

from regard.data.generated.talks import TURNS, VALUES, talk_corpus


def test_the_last_thing_that_was_told_is_the_reply() -> None:
    told_by_turn = {
        (sentence.split("{}")[0], sentence.split("{}")[1]): kind
        for kind, templates in TURNS.items()
        for sentence in templates[0:3:2]
    }
    for source, reply in talk_corpus()["test"]:
        turns = source.removeprefix("— ").split(" — ")
        facts = {}
        for turn in turns[:-1:2]:
            ((kind, value),) = [
                (kind, turn.removeprefix(before).removesuffix(after))
                for (before, after), kind in told_by_turn.items()
                if turn.startswith(before) and turn.endswith(after)
            ]
            facts[kind] = value
        question = next(kind for kind, templates in TURNS.items() if templates[3] == turns[-1])
        assert reply == (TURNS[question][4].format(facts[question]) if question in facts else TURNS[question][5])


def test_names_and_towns_of_the_test_never_met_before() -> None:
    names, towns = VALUES["name"].split(), VALUES["town"].split()
    apart = [(name, town) for (i, name), (j, town) in product(enumerate(names), enumerate(towns)) if (i + j) % 5 == 0]
    corpus = talk_corpus()

    def meeting(source: str) -> bool:
        words = set(source.replace(".", " ").replace(",", " ").split())
        return any(name in words and town in words for name, town in apart)

    assert all(meeting(source) for source, _ in corpus["test"])
    assert not any(meeting(source) for split in ("train", "valid") for source, _ in corpus[split])


def test_the_splits_have_their_sizes_and_share_nothing() -> None:
    corpus = talk_corpus()
    assert {split: len(pairs) for split, pairs in corpus.items()} == {"train": 20_000, "valid": 500, "test": 1000}
    sources = [source for pairs in corpus.values() for source, _ in pairs]
    assert len(set(sources)) == len(sources)
