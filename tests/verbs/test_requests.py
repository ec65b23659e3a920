"""Requests have one class, and a refusal names fields as the caller wrote them."""

import subprocess
import sys
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.requests.names import JSON
from regard.console.option_names import OptionNames
from regard.verbs.answer.request import AnswerRequest, DrawingInput, PictureInput
from regard.verbs.translate.request import TranslateRequest

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        {"samples": 3},
        "'samples' is the number that 'mbr' chooses among; to get several samples, give 'n_best'.",
        "--samples is the number that --mbr chooses among; to get several samples, give --n-best.",
    ),
    (
        {"forced": [], "n_best": 2},
        "'forced' scores given outputs instead of searching; omit 'n_best'.",
        "--force scores given outputs instead of searching; omit --n-best.",
    ),
    (
        {"engine": "onnx", "with": ["other"]},
        "onnxruntime cannot do 'with'; omit it, or set 'engine' to torch.",
        "onnxruntime cannot do --with; omit it, or set --engine to torch.",
    ),
    (
        {"engine": "onnx", "mbr": "chrf", "sample": {}},
        "onnxruntime cannot do 'mbr'; omit it, or set 'engine' to torch.",
        "onnxruntime cannot do --mbr; omit it, or set --engine to torch.",
    ),
    (
        {"mbr": "chrf", "search": {"nested": True}},
        "'search.nested' is for beam search, but 'sample' and 'mbr' sample; give one or the other.",
        "--set nested is for beam search, but --sample and --mbr sample; give one or the other.",
    ),
    ({"sample": {"top_k": -1}}, "sample.top_k is -1, expected 0 or more", "--top-k is -1, expected 0 or more"),
    ({"sample": 3}, "sample is 3, expected an object", "--sample is 3, expected a table"),
    ({"beam": 0}, "beam is 0, expected 1 or more", "--beam is 0, expected 1 or more"),
]


@pytest.mark.parametrize(("table", "in_json", "by_option"), REFUSED, ids=lambda value: str(value)[:30])
def test_one_rule_is_told_in_the_words_of_whoever_asks(table: dict[str, Any], in_json: str, by_option: str) -> None:
    for names, sentence in ((JSON, in_json), (OptionNames(), by_option)):
        with pytest.raises(Fault) as fault:
            TranslateRequest.read({"text": [], **table}, names)
        assert str(fault.value) == sentence


_EXPECTED = "expected a text in quotes, a whole number or an object"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, f"inputs[0] is null, {_EXPECTED}"),
        (True, f"inputs[0] is true, {_EXPECTED}"),
        ({}, "inputs[0] needs 'picture'"),
        ({"picture": "", "more": ""}, "inputs[0] has no 'more'; it has picture"),
        ({"picture": "@"}, "inputs[0].picture: it is not in base64"),
        ({"drawing": [[["a"]]]}, "inputs[0].drawing[0][0][0] is 'a', expected a number"),
    ],
)
def test_an_input_is_refused_as_what_it_is_meant_to_be(given: Any, sentence: str) -> None:
    with pytest.raises(Fault) as fault:
        AnswerRequest.read({"inputs": [given]})
    assert str(fault.value) == sentence


def test_inputs_are_read_as_people_have_them() -> None:
    inputs = ["a text", 3, {"picture": "aGk="}, {"drawing": [[[0.0, 1.0]]]}]
    assert AnswerRequest.read({"inputs": inputs}).inputs == [
        "a text",
        3,
        PictureInput(picture="aGk="),
        DrawingInput(drawing=[[[0.0, 1.0]]]),
    ]


@pytest.mark.parametrize(
    ("table", "sentences", "long"),
    [
        ({}, True, "split"),
        ({"prefix": "Eu"}, False, "refuse"),
        ({"forced": "Eu"}, False, "refuse"),
        ({"before": ["Eu"]}, False, "refuse"),
        ({"split_sentences": False}, False, "split"),
        ({"too_long": "refuse"}, True, "refuse"),
        ({"too_long": "truncate", "prefix": "Eu"}, False, "truncate"),
        ({"forced": "Eu", "too_long": "refuse"}, False, "refuse"),
    ],
)
def test_texts_are_cut_unless_something_is_asked_of_whole_outputs(
    table: dict[str, Any], sentences: bool, long: str
) -> None:
    request = TranslateRequest.read({"text": "Ana reads.", **table})
    assert (request.splits_sentences, request.long_texts) == (sentences, long)


def test_requests_and_plans_load_no_torch() -> None:
    modules = "regard.verbs.translate.request, regard.verbs.look.request, regard.verbs.translate.folder_translator"
    subprocess.run([sys.executable, "-c", f"import sys, {modules}; sys.exit('torch' in sys.modules)"], check=True)
