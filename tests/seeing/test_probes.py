"""Probes: laws on states made by hand, the states of real models, and what is refused."""

import random
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path

import pytest
import torch
from toys import open_trained_toy

import regard
from regard.base.faults import Fault
from regard.data.demo.labels import labelled_pairs
from regard.data.word_labels import LabelledSentence
from regard.model import make_model
from regard.seeing.probes import classifiers
from regard.seeing.probes.examples import control_labels, linked_words, word_task, word_types
from regard.seeing.probes.generated import corpus_for
from regard.seeing.probes.probing import probe_layers
from regard.seeing.probes.translators import decoder_states
from regard.seeing.probes.word_states import Row, WordStates, encoder_states, gather_words, tokens_of_words
from regard.viewing.probes import ProbeScore
from regard.viewing.sides import Words

WIDTH = 12
CLASSES = ("noun", "verb", "other")


def made_sentences(count: int = 300, types: int = 40) -> list[LabelledSentence]:
    """Return sentences of five words; a word of any type has any of three labels, the first half of the time."""
    dice = random.Random(1)
    sentences = []
    for _ in range(count):
        words = [f"w{dice.randrange(types)}" for _ in range(5)]
        tags = [dice.choice((*CLASSES, "noun")) for _ in words]
        sentences.append(
            LabelledSentence(" ".join(words), words, {"tags": tags}, {"near": [(0, dice.randrange(1, 5))]})
        )
    return sentences


def made_states(sentences: Sequence[LabelledSentence], layers: dict[int, torch.Tensor]) -> WordStates:
    return WordStates(sentences, range(0, 5 * len(sentences), 5), layers)


def noise(sentences: Sequence[LabelledSentence]) -> torch.Tensor:
    return torch.randn(5 * len(sentences), WIDTH, generator=torch.Generator().manual_seed(2))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def by_layer(scores: Sequence[ProbeScore]) -> dict[int, ProbeScore]:
    return {score.layer: score for score in scores}


@pytest.mark.long
def test_states_that_hold_the_label_are_read_exactly_and_noise_at_the_rate_of_the_majority() -> None:
    sentences = made_sentences()
    labels = [CLASSES.index(label or "") for sentence in sentences for label in sentence.labels["tags"]]
    exact = torch.nn.functional.one_hot(torch.tensor(labels), WIDTH).float()
    states = made_states(sentences, {0: noise(sentences), 1: exact, 2: exact + 0.01 * noise(sentences)})
    scores = by_layer(probe_layers(states, ["tags"]))
    assert scores[1].accuracy == [1.0] * 3
    assert scores[2].accuracy == [1.0] * 3
    assert set(scores[1].classes.values()) == {1.0}
    assert mean(scores[0].majority) == pytest.approx(0.5, abs=0.04)
    assert mean(scores[0].accuracy) == pytest.approx(mean(scores[0].majority), abs=0.05)
    assert mean(scores[0].control) == pytest.approx(0.5, abs=0.12)  # the majority of forty random labels


def test_states_that_hold_the_type_of_a_word_learn_the_control_task_but_not_the_label() -> None:
    sentences = made_sentences()
    types = [int(word[1:]) for sentence in sentences for word in sentence.words]
    states = made_states(sentences, {0: torch.nn.functional.one_hot(torch.tensor(types), 40).float()})
    (score,) = probe_layers(states, ["tags"])
    assert mean(score.control) > 0.98
    assert mean(score.accuracy) < 0.6
    assert mean(score.selectivity) < -0.3


@pytest.mark.long
def test_links_are_read_from_states_that_point_at_each_other() -> None:
    sentences = made_sentences()
    pointing = torch.zeros(5 * len(sentences), WIDTH)
    for number, sentence in enumerate(sentences):
        ((one, other),) = sentence.links["near"]
        for place in range(5):
            pointing[5 * number + place, place] = 1.0
        pointing[5 * number + one, 5 + other] = 1.0
    states = made_states(sentences, {0: noise(sentences), 1: pointing})
    scores = by_layer(probe_layers(states, ["links"]))
    assert mean(scores[1].accuracy) > 0.97
    assert mean(scores[0].accuracy) == pytest.approx(0.5, abs=0.08)
    assert scores[0].majority == [0.5] * 3
    assert mean(scores[0].control) == pytest.approx(0.5, abs=0.12)


def test_a_pair_that_is_not_linked_has_the_same_first_word() -> None:
    states = made_states(made_sentences(40), {})
    pairs = linked_words(states, seed=3)
    assert pairs.labels.tolist() == [1, 0] * 40
    linked, others = pairs.words[::2], pairs.words[1::2]
    assert torch.equal(linked[:, 0], others[:, 0])
    assert (linked[:, 1] != others[:, 1]).all()
    assert torch.equal(others[:, 0] // 5, others[:, 1] // 5)


def test_a_control_label_belongs_to_the_type() -> None:
    states = made_states(made_sentences(), {})
    task, types = word_task(states, "tags"), word_types(states.sentences)
    labels = control_labels(task, types, 0).tolist()
    assert len({(type_, label) for type_, label in zip(types, labels, strict=True)}) == len(set(types))
    assert labels != control_labels(task, types, 1).tolist()
    assert word_types([LabelledSentence("Ana's, Dog.", ["Ana's,", "Dog."], {}, {})]) == ["ana's", "dog"]


def test_the_same_seeds_give_the_same_scores_and_layers_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifiers, "FEWEST_STEPS", 5)
    sentences = made_sentences(100)
    states = made_states(sentences, {0: noise(sentences), 1: noise(sentences) * 2})
    alone = made_states(sentences, {1: states.layers[1]})
    chosen = probe_layers(alone, ["tags", "links"], seeds=2)
    assert [(score.what, score.layer, len(score.accuracy)) for score in chosen] == [("tags", 1, 2), ("links", 1, 2)]
    both = probe_layers(states, ["tags", "links"], seeds=2)
    assert [score for score in both if score.layer == 1] == chosen


def test_refusals() -> None:
    sentences = made_sentences(40)
    with pytest.raises(Fault, match="needs two classes with 20 examples each, and these sentences have 1"):
        probe_layers(made_states(made_sentences(8), {0: noise(sentences)[:40]}), ["tags"])
    with pytest.raises(Fault, match="needs 20 linked pairs of words, and these sentences have 10"):
        probe_layers(made_states(sentences[:10], {0: noise(sentences)[:50]}), ["links"])
    with pytest.raises(Fault, match="Probes need 8 sentences, and there are 3"):
        probe_layers(made_states(sentences[:3], {0: noise(sentences)[:15]}), ["tags"])


def rows_of(sentences: Sequence[LabelledSentence], layers: int) -> Iterator[Row]:
    """Rows whose state of word w in layer l is (w, l)."""
    for sentence in sentences:
        words = Words(sentence.words, sentence.words, range(5))
        yield sentence, words, [torch.tensor([[word, layer] for word in range(5)]) for layer in range(layers)]


def test_states_of_some_layers_are_gathered_in_their_order() -> None:
    states = gather_words(rows_of(made_sentences(3), layers=4), 3, layers=[2, 0])
    assert list(states.layers) == [2, 0]
    assert states.layers[2].tolist() == [[word, 2] for word in range(5)] * 3
    assert list(gather_words(rows_of(made_sentences(3), layers=2), 3).layers) == [0, 1]


def test_a_layer_that_a_model_does_not_have_is_refused_at_the_first_sentence() -> None:
    rows = rows_of(made_sentences(3), layers=2)
    with pytest.raises(Fault, match=r"layers 0 to 1; there is no layer 7\."):
        gather_words(rows, 3, layers=[1, 7])
    assert len(list(rows)) == 2
    with pytest.raises(Fault, match=r"layer 0 alone; there is no layer 1\."):
        gather_words(rows_of(made_sentences(1), layers=1), 1, layers=[1])


def test_rare_classes_are_left_out_with_a_remark() -> None:
    sentences = made_sentences()
    odd = LabelledSentence("a b c d e", list("abcde"), {"tags": ["rare", None, None, None, None]}, {})
    remarks: list[str] = []
    task = word_task(made_states([*sentences, odd], {}), "tags", remarks.append)
    assert task.classes == sorted(CLASSES)
    assert task.labels[-5:].tolist() == [-1] * 5
    assert remarks == ["tags: 1 of 4 classes has fewer than 20 examples and is left out."]


@pytest.mark.parametrize(
    ("words", "tokens", "places", "found"),
    [
        (["I", "see."], ["I", "see", "."], [0, 1, 2], [[0], [1]]),
        (["unseen", "!"], ["unseen", "!"], [0, 0, 1], [[0, 1], [2]]),
        (["a", "b"], ["a", "longer"], [0, 1], None),
        (["a", "b"], ["a"], [0], None),
    ],
)
def test_tokens_of_words(words: list[str], tokens: list[str], places: list[int], found: list[list[int]] | None) -> None:
    assert tokens_of_words(words, Words([str(place) for place in places], tokens, places)) == found


def test_states_of_a_translator_are_those_of_its_words(trained: Path) -> None:
    model = regard.load(trained)
    pairs = labelled_pairs("valid", "demo", 70)
    states = encoder_states(model.task, [source for source, _ in pairs])
    assert list(states.layers) == [0, 1]
    assert len(states.sentences) == 70
    number = 66  # in another batch than the first
    sentence, first = states.sentences[number], states.firsts[number]
    (vectors,) = model.embed([sentence.text])
    for layer, own in states.layers.items():
        assert len(own) == sum(len(sentence.words) for sentence in states.sentences)
        torch.testing.assert_close(own[first], vectors.words[layer][0])


def test_states_of_a_decoder_read_the_word_and_nothing_after_it(trained: Path) -> None:
    model = regard.load(trained)
    pairs = labelled_pairs("valid", "demo", 5)
    states = decoder_states(model.task, pairs)
    assert list(states.layers) == [0, 1, 2]
    source, target = pairs[0]
    cut = LabelledSentence(" ".join(target.words[:2]), target.words[:2], target.labels, {})
    alone = decoder_states(model.task, [(source, cut)])
    for layer, own in states.layers.items():
        torch.testing.assert_close(own[:2], alone.layers[layer], rtol=1e-4, atol=1e-5)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["seq2seq", "gpt", "bert", "encoder", "rnn", "word2vec"])
def test_every_family_that_embeds_has_states(name: str, tmp_path: Path) -> None:
    task = open_trained_toy(name, tmp_path).task
    if isinstance(task, torch.nn.Module):
        task.eval()
    text = "good film film." if name in ("bert", "encoder", "rnn") else "I love books."
    states = encoder_states(task, [LabelledSentence(text, text.split(), {}, {})] * 3)
    assert min(states.layers) == 0
    assert all(len(own) == 9 for own in states.layers.values())
    torch.testing.assert_close(states.layers[0][:3], states.layers[0][3:6])


def test_sentences_in_another_language_are_refused(tmp_path: Path) -> None:
    task = open_trained_toy("gpt", tmp_path).task
    words = ["Wir", "lieben", "alte", "Bücher"]
    with pytest.raises(Fault, match="100% of the tokens are unknown to this model, which seems to know another"):
        encoder_states(task, [LabelledSentence(" ".join(words), words, {}, {})] * 3)


def test_the_grammar_speaks_the_languages_of_a_translator(trained: Path) -> None:
    model = regard.load(trained)

    def corpus(reads: str, writes: str, side: str = "encoder", language: str | None = None) -> tuple[str, bool]:
        data = model.recipe.data.model_copy(update={"source_language": reads, "target_language": writes})
        changed = copy(model)
        changed.recipe = model.recipe.model_copy(update={"data": data})
        return corpus_for(changed, language, side)

    assert corpus("en", "pt") == ("demo", False)
    assert corpus("en", "ru") == ("demo-ru", False)
    assert corpus("pt", "en", "decoder") == ("demo", True)
    assert corpus("ru", "de") == ("demo-ru", True)
    assert corpus("de", "en", language="en") == ("demo", False)
    with pytest.raises(Fault, match="English, Portuguese and Russian sentences, but this model reads de; give"):
        corpus("de", "en")
    with pytest.raises(Fault, match="this model translates de to en; only its encoder can be probed"):
        corpus("de", "en", "decoder")


def test_the_language_of_other_models_is_that_of_their_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_trained_toy("gpt", tmp_path)
    model = make_model(run.task, run.recipe)
    assert corpus_for(model, None, "encoder") == ("demo", False)
    assert corpus_for(model, "ru", "encoder") == ("demo-ru", True)
    monkeypatch.setattr("regard.seeing.probes.generated.find_language", lambda lines: "de")
    with pytest.raises(Fault, match=r"has learnt from text in another language \(de\); give tagged sentences"):
        corpus_for(model, None, "encoder")


def test_a_model_without_a_decoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="no decoder that writes token by token"):
        decoder_states(open_trained_toy("ctc-text", tmp_path).task, labelled_pairs("valid", "demo", 3))
