"""Examples of algorithms by hand, as steps and as users write them."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.algorithms.examples import (
    channels,
    copy_example,
    draw_examples,
    recall_example,
    repeat_example,
    sort_example,
)
from regard.data.algorithms.options import AlgorithmData
from regard.data.algorithms.spelling import read_examples, write_items
from regard.families import check_recipe

ITEMS = np.array([[[1, 0], [1, 1]]], np.float32)


def data(algorithm: str, **more: object) -> AlgorithmData:
    return AlgorithmData.model_validate({"algorithm": algorithm, "bits": 2, "fewest": 2} | more)


def test_copying_gives_items_a_marker_and_asks_for_the_items() -> None:
    example = copy_example(ITEMS)
    assert example.inputs[0].tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert example.asked[0].tolist() == [False, False, False, True, True]
    assert example.answers[0][example.asked[0]].tolist() == [[1, 0], [1, 1]]


def test_copying_three_times_ends_with_a_marker_of_its_own() -> None:
    example = repeat_example(ITEMS, repeats=3, most=5)
    assert example.inputs[0, 2].tolist() == [0, 0, 1, 0]  # 3 is the mean of 1 to 5
    assert repeat_example(ITEMS, 5, most=5).inputs[0, 2, 3] == pytest.approx(2 / np.sqrt(2))
    assert example.answers[0][example.asked[0]].tolist() == [*[[1, 0, 0], [1, 1, 0]] * 3, [0, 0, 1]]


def test_recalling_asks_for_the_item_after_one() -> None:
    listed = np.array([[[[1, 0]], [[0, 1]], [[1, 1]]]], np.float32)
    example = recall_example(listed, listed[:, 1], listed[:, 2])
    item, query = [0, 0, 1, 0], [0, 0, 0, 1]
    steps = [item, [1, 0, 0, 0], item, [0, 1, 0, 0], item, [1, 1, 0, 0], query, [0, 1, 0, 0], query, [0, 0, 0, 0]]
    assert example.inputs[0].tolist() == steps
    assert example.answers[0][example.asked[0]].tolist() == [[1, 1]]


def test_sorting_asks_for_the_highest_priorities_in_order() -> None:
    items = np.array([[[1, 0], [1, 1], [0, 1], [0, 0], [1, 0]]], np.float32)
    example = sort_example(items, np.array([[0.1, -0.5, 0.9, -0.9, 0.5]], np.float32), kept=0.8)
    assert example.answers[0][example.asked[0]].tolist() == [[0, 1], [1, 0], [1, 0], [1, 1]]
    assert example.inputs[0, :6, 3].tolist() == pytest.approx([0.1, -0.5, 0.9, -0.9, 0.5, 0])


def test_a_cue_is_on_while_an_answer_is_asked_for_drawn_or_typed() -> None:
    options = data("copy", cue=True)
    examples, typed = draw_examples(options, 1, 2, 1, np.random.default_rng(1)), read_examples(["10 11"], options)
    assert channels(options) == (4, 2)
    assert examples.inputs[0, :, 3].tolist() == typed.inputs[0, :, 3].tolist() == [0, 0, 0, 1, 1]
    assert typed.pad(6).inputs[0, 5].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("algorithm", ["copy", "repeat-copy", "recall", "sort"])
def test_what_is_drawn_fits_the_channels_and_is_asked_for_in_its_last_steps(algorithm: str) -> None:
    options = data(algorithm)
    example = draw_examples(options, 4, 3, 2, np.random.default_rng(1))
    assert (example.inputs.shape[2], example.answers.shape[2]) == channels(options)
    assert not np.diff(example.asked.astype(int), axis=1).min() < 0
    assert not example.inputs[example.asked].any()
    assert not example.answers[~example.asked].any()
    padded = example.pad(20)
    assert (padded.steps, padded.asked.sum(), padded.items.tolist()) == (20, example.asked.sum(), [3] * 4)


@pytest.mark.parametrize(
    ("algorithm", "text", "answer"),
    [
        ("copy", "10 11", "10 11"),
        ("repeat-copy", "10 11 x2", "10 11 10 11"),
        ("recall", "10 11 01 | 00 01 11 | 11 11 11 ? 00 01 11", "11 11 11"),
        ("sort", "0.5:10 -0.25:11 1:01", "01 10 11"),
    ],
)
def test_what_people_write_is_read_and_its_answer_written_as_they_read_it(
    algorithm: str, text: str, answer: str
) -> None:
    options = data(algorithm)
    shorter = read_examples([text, text], options)
    assert write_items(shorter.answers[1][shorter.asked[1]], options) == answer


def test_examples_of_several_lengths_are_padded_to_the_longest() -> None:
    examples = read_examples(["10", "10 11 01"], data("copy"))
    assert examples.asked.sum(axis=1).tolist() == [1, 3]
    assert examples.items.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("algorithm", "text", "sentence"),
    [
        ("copy", " ", "Text 2: there is no item; it must be items, as in '01 11'."),
        ("copy", "10 102", "Text 2: '102' is not an item of 2 bits; it must be items"),
        ("copy", "10 ab", "'ab' is not an item of 2 bits"),
        ("repeat-copy", "10 11", "it does not end with the number of copies; it must be .* '01 11 x3'"),
        ("repeat-copy", "10 x0", "the number of copies is 0"),
        ("repeat-copy", "10 x10000", "the number of copies is above 9,999"),
        (
            "recall",
            "10 11 01 | 00 01 11",
            "there is no . with the item asked for .*items separated by |",
        ),
        ("recall", "10 11 01 | 00 01 11 ? 00 01 11", "no item follows the one asked for"),
        ("recall", "10 11 | 00 01 ? 10 11", "'10 11' is not an item of 3 parts"),
        ("sort", "2:10", "'2' is not a priority from -1 to 1"),
        ("sort", "10", "'10' is not a priority"),
        ("copy", "10 " * 10_001, "this takes 20,003 steps, but the limit is 20,000"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(algorithm: str, text: str, sentence: str) -> None:
    good = {"copy": "10", "repeat-copy": "10 x1", "recall": "10 11 01 | 11 11 11 ? 10 11 01", "sort": "0:10"}
    with pytest.raises(Fault, match=sentence.replace("|", r"\|")):
        read_examples([good[algorithm], text], data(algorithm))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"fewest": 5, "most": 4}, "fewest is 5, which is more than most, 4"),
        ({"algorithm": "recall"}, "recall needs at least two items"),
        ({"algorithm": "recall", "fewest": 2, "test": {"items": [1]}}, "recall needs at least two items"),
        ({"kept": 0.5}, "kept is for 'sort', not for 'copy'"),
        ({"test": {"items": [4], "repeats": 2}}, "repeats are for 'repeat-copy', not for 'copy'"),
        ({"test": {"items": []}}, "data.test.items"),
        ({"valid": {"items": [1], "slots": 2}}, "reach = 1 would go around a memory of 2 slots"),
    ],
)
def test_data_that_contradict_themselves_are_refused(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check_recipe({"family": "ntm", "data": {"algorithm": "copy"} | table})


def test_slots_are_refused_where_there_are_none() -> None:
    with pytest.raises(Fault, match=r"data\.test\.slots is for models with memory slots"):
        check_recipe({"family": "lstm", "data": {"algorithm": "copy", "test": {"items": [1], "slots": 9}}})
