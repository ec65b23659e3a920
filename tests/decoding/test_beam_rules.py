"""Every option and demand of beam search: the batched search compared with the plain one, and their promises."""

import random
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from sampled import few_seeds

from regard.base.faults import Fault, TextFault
from regard.decoding.beam import Hypothesis, beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Wanted, occurs

sys.path.insert(0, str(Path(__file__).parent))
from plain_beam import plain_beam
from plain_rules import plain_rules
from tables import END, Looking, Table, fixed, random_table

SENTENCES = 3
WAYS: dict[str, dict[str, Any]] = {
    "average": {"length_penalty_kind": "average"},
    "none": {"length_penalty_kind": "none"},
    "coverage": {"coverage_penalty": 0.7},
    "first": {"stop": "first"},
    "exhaustive": {"stop": "exhaustive", "length_penalty_kind": "average"},
    "nested": {"nested": True},
    "nested exhaustive": {"nested": True, "stop": "exhaustive"},
    "groups": {"groups": 2, "diversity": 0.8},
    "groups first": {"groups": 3, "diversity": 2.0, "stop": "first"},
    "shortest": {"shortest": 3},
    "repetition": {"repetition_penalty": 1.7},
    "unrepeated": {"unrepeated": 2},
    "unrepeated at all": {"unrepeated": 1, "shortest": 4},
    "everything": {"unrepeated": 3, "shortest": 2, "repetition_penalty": 1.2, "coverage_penalty": 0.3, "nested": True},
}
ASKED = ["nothing", "prefixes", "forbidden", "allowed", "required", "spelled", "all"]


def spelled(dice: random.Random, phrase: Callable[[int], list[int]]) -> Wanted:
    """Return a phrase of several spellings; sometimes its last token alone meets it, until its first one follows."""
    several = tuple(tuple(phrase(3)) for _ in range(dice.randint(1, 2)))
    first, last = several[0][0], several[0][-1]

    def is_in(tokens: Sequence[int]) -> bool:
        return last in tokens and list(tokens[::-1])[: list(tokens[::-1]).index(last)][-1:] != [first]

    return Wanted(several, tuple(tuple(phrase(2)) for _ in range(dice.randint(0, 1))), dice.choice([None, is_in]))


def random_demands(dice: random.Random, asked: str, vocabulary: int, sentences: int = SENTENCES) -> Demands:
    """Return satisfiable demands: short phrases without the begin or end token."""

    def phrase(longest: int, least: int = 1) -> list[int]:
        return [dice.randrange(2, vocabulary) for _ in range(dice.randint(least, longest))]

    demands: dict[str, Any] = {}
    if asked in ("prefixes", "all"):
        demands["prefixes"] = [phrase(2, 0) for _ in range(sentences)]
    if asked in ("required", "all"):
        demands["required"] = [[phrase(3) for _ in range(dice.randint(0, 2))] for _ in range(sentences)]
    if asked == "spelled":
        demands["required"] = [[spelled(dice, phrase) for _ in range(dice.randint(0, 2))] for _ in range(sentences)]
    if asked in ("forbidden", "all"):
        several = [phrase(3) for _ in range(3)]
        needed = [phrase for phrases in demands.get("required", []) for phrase in phrases]
        demands["forbidden"] = [
            phrase_tokens for phrase_tokens in several if not any(occurs(phrase_tokens, other) for other in needed)
        ]
    if asked == "allowed":
        demands["allowed"] = dice.sample(range(2, vocabulary), 2)
    return Demands(**demands)


def one(demands: Demands, number: int) -> Demands:
    """Return the demands of one sentence."""
    prefixes, required = demands.prefixes[number : number + 1], demands.required[number : number + 1]
    return Demands(prefixes, required, demands.forbidden, demands.allowed)


def found_all(
    task: Table,
    limits: list[int],
    options: DecodingOptions,
    demands: Demands | None = None,
    must_end: bool = True,
) -> list[list[Hypothesis]]:
    return beam_search(task, torch.arange(len(limits)), torch.tensor(limits), options, demands, must_end=must_end)


def agree(seed: int, changes: dict[str, Any], asked: str, must_end: bool = True) -> None:
    """Compare one random case with the definition: same outputs, same scores."""
    dice = random.Random(seed)
    vocabulary, width = dice.randint(4, 8), dice.randint(1, 3)
    size = width * changes.get("groups", 1)
    alpha, limits = dice.random() * 1.5, [dice.randint(9, 12) for _ in range(SENTENCES)]
    if not must_end and asked == "nothing":  # some of them reach their limits, and some end before
        limits = [dice.randint(1, 6) for _ in range(SENTENCES)]
    options = DecodingOptions(beam=size, n_best=size, length_penalty=alpha, **changes)
    demands = random_demands(dice, asked, vocabulary)
    task = Looking(random_table(seed, SENTENCES, vocabulary, ties=seed % 2 == 0).table)

    def defined(number: int) -> list[tuple[list[int], float]]:
        batch = torch.tensor([number])
        return plain_beam(task, batch, limits[number], size, alpha, options, one(demands, number), must_end)

    outcome: list[list[Hypothesis]] | TextFault
    try:
        outcome = found_all(task, limits, options, demands, must_end)
    except TextFault as fault:  # phrases that contradict each other
        outcome = fault
    if isinstance(outcome, TextFault):
        assert defined(outcome.number) == []
        return
    for number, hypotheses in enumerate(outcome):
        expected = defined(number)
        assert [hypothesis.tokens for hypothesis in hypotheses] == [tokens for tokens, _ in expected]
        exact = not options.coverage_penalty  # the logarithms of a penalty are added in another order
        scores = [score for _, score in expected]
        assert [hypothesis.score for hypothesis in hypotheses] == (scores if exact else pytest.approx(scores))


@few_seeds(1, 6)
@pytest.mark.parametrize("must_end", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_options_agree_with_the_definition(seeds: range, way: str, must_end: bool) -> None:
    for seed in seeds:
        agree(seed, WAYS[way], "nothing", must_end)


@few_seeds(3, 12)
@pytest.mark.parametrize("must_end", [True, False])
@pytest.mark.parametrize("asked", ASKED[1:])
def test_demands_agree_with_the_definition(seeds: range, asked: str, must_end: bool) -> None:
    for seed in seeds:
        agree(seed, {}, asked, must_end)


@few_seeds(2, 6)
@pytest.mark.parametrize("way", ["coverage", "first", "exhaustive", "shortest", "repetition"])
def test_required_phrases_agree_with_the_definition_under_every_rule(seeds: range, way: str) -> None:
    for seed in seeds:
        agree(seed, WAYS[way], "required")


PROMISING = product(["none", "first", "shortest", "repetition"], ASKED)
UNPROMISING = product(["unrepeated", "nested", "groups"], ASKED[:4])  # these take no required phrases


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("way", "asked"), [*PROMISING, *UNPROMISING])
def test_batch_and_order_change_nothing(way: str, asked: str) -> None:
    task, dice = random_table(11, 4, 7), random.Random(3)
    options, limits = DecodingOptions(beam=4, n_best=4, **WAYS[way]), [6, 9, 7, 8]
    demands = random_demands(dice, asked, 7, sentences=4)
    together = found_all(task, limits, options, demands)
    backwards = beam_search(
        task,
        torch.tensor([3, 2, 1, 0]),
        torch.tensor(limits[::-1]),
        options,
        Demands(demands.prefixes[::-1], demands.required[::-1], demands.forbidden, demands.allowed),
    )
    alone = [
        beam_search(task, torch.tensor([n]), torch.tensor([limits[n]]), options, one(demands, n))[0] for n in range(4)
    ]
    assert together == backwards[::-1] == alone


@pytest.mark.parametrize("way", [way for way in WAYS if "groups" not in way])
def test_beam_of_one_is_greedy_under_every_rule(way: str) -> None:
    """Greedy search takes the best allowed token and stops when that is the end."""
    for seed in range(8):
        task = Looking(random_table(seed, 1, 6).table)
        options = DecodingOptions(beam=1, **WAYS[way])
        state, last, tokens = task.start(torch.tensor([0])), torch.tensor([task.begin]), []
        while True:
            log_probabilities, state = task.step(last, state)
            values = plain_rules(log_probabilities[0].tolist(), tokens, END, 9, options, Demands())
            last = torch.tensor([values.index(max(values))])
            if last.item() == END:
                break
            tokens.append(last.item())
        output = found_all(task, [9], options.model_copy(update={"stop": "first"}))[0][0].tokens
        assert output == tokens


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["wu", "average", "none"])
def test_a_wider_nested_beam_never_ends_worse(kind: str) -> None:
    """The law of the nested beam, and cases in which the plain beam breaks it."""
    task = random_table(3, 200, 7)

    def best_scores(width: int, nested: bool) -> list[float]:
        options = DecodingOptions(
            beam=width, nested=nested, stop="exhaustive", length_penalty_kind=kind, length_penalty=1.0
        )
        return [hypotheses[0].score for hypotheses in found_all(task, [8] * 200, options)]

    nested, plain = ([best_scores(width, choice) for width in range(1, 6)] for choice in (True, False))
    assert all(list(scores) == sorted(scores) for scores in zip(*nested, strict=True))
    assert any(list(scores) != sorted(scores) for scores in zip(*plain, strict=True))


def test_a_nested_beam_begins_with_greedy_search() -> None:
    """The greedy result is therefore among the finished hypotheses, or beaten by one."""
    task = random_table(1, 30, 7)
    greedy = found_all(task, [9] * 30, DecodingOptions(beam=1, stop="first"))
    wide = found_all(task, [9] * 30, DecodingOptions(beam=5, n_best=5, nested=True, stop="exhaustive"))
    for (only,), hypotheses in zip(greedy, wide, strict=True):
        assert only in hypotheses or only.score <= hypotheses[-1].score


def test_exhaustive_never_ends_worse_than_settled_nor_that_than_first() -> None:
    task = random_table(2, 200, 7)
    ways = [
        found_all(task, [10] * 200, DecodingOptions(beam=2, stop=stop, length_penalty=2.0))
        for stop in ("first", "settled", "exhaustive")
    ]
    scores = [[hypotheses[0].score for hypotheses in searches] for searches in zip(*ways, strict=True)]
    assert all(values == sorted(values) for values in scores)
    assert all(any(values[place] < values[place + 1] for values in scores) for place in (0, 1))


def test_required_phrases_occur_whenever_there_is_room() -> None:
    """This holds even where the limit leaves no spare token."""
    for seed in range(50):
        dice = random.Random(seed)
        task, size = random_table(seed, SENTENCES, 7), dice.randint(1, 5)
        demands = random_demands(dice, "required", 7)
        limits = [1 + sum(len(phrase) for phrase in phrases) + dice.randint(0, 2) for phrases in demands.required]
        for phrases, hypotheses in zip(
            demands.required, found_all(task, limits, DecodingOptions(beam=size, n_best=size), demands), strict=True
        ):
            assert hypotheses
            assert all(occurs(phrase, hypothesis.tokens) for phrase in phrases for hypothesis in hypotheses)


def test_demands_are_kept() -> None:
    for seed in range(20):
        dice = random.Random(seed)
        demands = random_demands(dice, "all", 7)
        options = DecodingOptions(beam=3, n_best=3)
        for number, hypotheses in enumerate(
            found_all(random_table(seed, SENTENCES, 7), [12] * SENTENCES, options, demands)
        ):
            for hypothesis in hypotheses:
                prefix = demands.prefixes[number]
                assert hypothesis.tokens[: len(prefix)] == prefix
                assert not any(occurs(phrase, hypothesis.tokens[len(prefix) :]) for phrase in demands.forbidden)


def test_groups_write_different_things() -> None:
    """Two tokens have 0.5 and 0.3. A group that pays 1 for repeating the first group takes the other."""
    task = fixed(0.0, 0.2, 0.5, 0.3)
    options = DecodingOptions(beam=2, n_best=2, groups=2, diversity=1.0, length_penalty=0.0, shortest=1)
    assert sorted(hypothesis.tokens for hypothesis in found_all(task, [2], options)[0]) == [[2], [3]]
    same = options.model_copy(update={"diversity": 0.0})
    assert [hypothesis.tokens for hypothesis in found_all(task, [2], same)[0]] == [[2]]


def test_coverage_prefers_what_has_looked_everywhere() -> None:
    """Ending at once has covered the first place only: 0.8, 0.1, 0.1."""
    task = Looking(fixed(0.0, 0.5, 0.25, 0.25).table)
    without = found_all(task, [4], DecodingOptions(length_penalty=0.0))[0][0]
    assert without.tokens == []
    covered = found_all(task, [4], DecodingOptions(length_penalty=0.0, coverage_penalty=1.0))[0][0]
    assert covered.tokens == [2]  # the begin looked at the first place, 2 at the last: 0.9, 0.2, 0.9
    logs = torch.tensor([0.25, 0.5, 0.9, 0.2, 0.9], dtype=torch.float64).log()
    assert covered.score == pytest.approx(logs.sum().item())


@pytest.mark.parametrize("kind", ["wu", "average", "none"])
def test_length_penalties_on_paper(kind: str) -> None:
    """One token and the end have probability a half each: two tokens, log 1/4."""
    penalty = {"wu": 7 / 6, "average": 2.0, "none": 1.0}[kind]
    task = fixed(0.0, 0.5, 0.5)
    options = DecodingOptions(beam=1, length_penalty=1.0, length_penalty_kind=kind, shortest=1)
    hypothesis = found_all(task, [2], options)[0][0]
    assert hypothesis.score == pytest.approx(2 * torch.tensor(0.5, dtype=torch.float64).log().item() / penalty)


def test_scores_of_tokens_are_the_models_own_under_every_rule() -> None:
    for way, changes in WAYS.items():
        task = Looking(random_table(5, 1, 7).table)
        options = DecodingOptions(beam=6, n_best=6, length_penalty_kind="none", **{
            name: value for name, value in changes.items() if name != "length_penalty_kind"
        })  # fmt: skip
        for hypothesis in found_all(task, [8], options)[0]:
            steps = enumerate(zip([task.begin, *hypothesis.tokens], [*hypothesis.tokens, END], strict=True))
            scores = [task.table[0, min(time, 3), last, token].item() for time, (last, token) in steps]
            assert hypothesis.token_scores == scores
            if not options.repetition_penalty > 1 and not options.coverage_penalty:
                assert hypothesis.score == pytest.approx(sum(scores)), way


@pytest.mark.parametrize(
    ("changes", "demands", "words"),
    [
        ({"nested": True}, Demands(required=[[[2]]]), "cannot guarantee phrases"),
        ({"groups": 2}, Demands(required=[[[2]]]), "cannot guarantee phrases"),
        ({"coverage_penalty": 0.1}, Demands(), "does not record its attention"),
        ({}, Demands(required=[[[2, 3], [3, 4]]]), "take 5 tokens with the end, but its output may have 4"),
        ({}, Demands(required=[[[2, 3]]], forbidden=[[3]]), "contains one that must not"),
        ({}, Demands(required=[[[2, 3]]], allowed=[2]), "outside the restricted vocabulary"),
        ({"unrepeated": 1}, Demands(required=[[[2, 2]]]), "Text 1: no output was found that has all required phrases"),
    ],
)
def test_refusals(changes: dict[str, Any], demands: Demands, words: str) -> None:
    with pytest.raises(Fault, match=words):
        found_all(random_table(0, 1, 6), [4], DecodingOptions(**changes), demands)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"beam": 2, "n_best": 3}, "widen it"),
        ({"beam": 4, "groups": 3}, "cannot be divided into 3 groups"),
        ({"nested": True, "groups": 2}, "a nested beam has no groups"),
    ],
)
def test_options_that_contradict_each_other(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DecodingOptions(**changes)
