"""A request is refused for its shape exactly where the description of the interface forbids it."""

import json
from functools import cache
from typing import Any

import httpx2 as httpx
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.base.recipe import Options
from regard.base.requests.rules import Clash, Need, VerbRequest
from regard.serving.app import every_door
from regard.serving.http.bodies import parse_json
from regard.serving.http.refusals import Refusal, read_request
from regard.serving.openapi import document
from regard.verbs.answer.door import AnswerBody
from regard.verbs.embed.door import EmbedBody
from regard.verbs.generate.door import GenerateBody
from regard.verbs.look.door import AttentionBody, BeamBody, ForwardBody, NextBody
from regard.verbs.look.reasons_door import ExamplesBody, WhyBody
from regard.verbs.translate.door import TranslateBody

MANY = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
SCHEMAS = document(every_door())["components"]


@cache
def description(kind: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{kind}", "components": SCHEMAS})


def allowed(kind: str, body: Any) -> bool:
    """Return True if the interface description allows this body."""
    return description(kind).is_valid(body)


def refusal(kind: type[Options], body: Any) -> str | None:
    """Return the refusal of this body, sent as JSON."""
    try:
        read_request(kind, parse_json(json.dumps(body).encode()))
    except Refusal as refused:
        return refused.sentence
    return None


BODIES = {
    TranslateBody: {"text": "Ana reads."},
    AttentionBody: {"text": "Ana reads."},
    NextBody: {"text": "Ana reads."},
    BeamBody: {"text": "Ana reads."},
    ForwardBody: {"text": "Ana reads."},
    WhyBody: {"input": "Ana reads."},
    ExamplesBody: {"text": "Ana reads."},
    AnswerBody: {"inputs": [3]},
    GenerateBody: {"prompt": "Ana"},
    EmbedBody: {"text": "Ana reads."},
}
NAMES = {kind: [field.alias or name for name, field in kind.model_fields.items()] for kind in BODIES}
VALUES = st.sampled_from(
    [
        None, True, False, 0, 1, 2, 2.0, 2.5, -1, 2**31, 2**63, "", " ", "\x1c", "\x85", "\ufeff", "Eu", "auto",
        "torch", "onnx", "ctranslate2", "chrf", "cider", "split", "refuse", "words", "mean", "cross",
        "attention", "lens", "patching", "l2", [], ["Eu"], [" "],
        ["Eu", "amo"], ["cross"], ["3", "3.0"], ["3."], ["3\n"],
        [["Eu"]], [["Eu"], ["amo"]], [[], []], [1], [0], [2.0], ["Eu", 1], [["Eu"], "amo"],
        {}, {"top_k": 3}, {"top_k": 3.0}, {"seed": -1}, {"groups": 2}, {"stop": "first"}, {"stop": None}, {"beam": 2},
        {"sampling": {}}, {"nonsense": 1},
    ]
)  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", BODIES)
@settings(parent=MANY)
@given(data=st.data())
def test_what_is_described_is_what_is_accepted(kind: type[VerbRequest], data: st.DataObject) -> None:
    names = st.sampled_from([*NAMES[kind], "nonsense"])
    body = BODIES[kind] | data.draw(st.dictionaries(names, VALUES, max_size=3))
    message = refusal(kind, body)
    if message is not None and ("There are" in message or "best of" in message):
        return  # as many as there are texts, no more than there are samples: no schema can compare that
    undescribed = {rule.field for rule in kind.rules if isinstance(rule, Clash | Need) and not rule.is_described}
    if message is not None and undescribed & body.keys():
        return  # and some rules are left to the sentence that refuses
    assert allowed(kind.__name__, body) == (message is None), (body, message)


ONCE_ALLOWED = [
    {"channel_weight": 2.0},
    {"samples": 3},
    {"sample": {}, "beam": 2},
    {"mbr": "chrf", "search": {"stop": "first"}},
    {"mbr": "nonsense"},
    {"search": {"grups": 2}},
    {"search": {"beam": 2}},
    {"forced": "a", "n_best": 2},
    {"forced": "a", "with": ["back"]},
    {"before": ["Eu"], "prefix": "Eu"},
    {"before": ["Eu"], "text": ["a", "b"]},
    {"split_sentences": True, "prefix": "Eu"},
    {"engine": "ctranslate2", "sample": {}},
    {"forbidden": [" "]},
    {"required": [""]},
    {"prefix": ["a", "b"]},
]


@pytest.mark.parametrize("more", ONCE_ALLOWED, ids=str)
def test_fields_that_do_not_go_together_are_described(client: httpx.Client, more: dict[str, Any]) -> None:
    body = {"text": "Ana", "model": "forth"} | more
    assert not allowed("TranslateBody", body)
    assert client.post("/v1/translate", json=body).status_code == 400


@pytest.mark.parametrize(
    ("view", "kind", "more"),
    [
        ("attention", "AttentionBody", {"output": "a", "tokens": ["Eu"]}),
        ("attention", "AttentionBody", {"text": " "}),
        ("next", "NextBody", {"at": 1, "prefix": "Eu"}),
        ("next", "NextBody", {"before": [], "at": 0}),
        ("beam", "BeamBody", {"text": ""}),
        ("forward", "ForwardBody", {"output": "a", "tokens": ["Eu"]}),
        ("forward", "ForwardBody", {"opened": ["first"]}),
        ("examples", "ExamplesBody", {"by": "hand"}),
    ],
)
def test_so_are_those_of_the_views(client: httpx.Client, view: str, kind: str, more: dict[str, Any]) -> None:
    body = {"text": "Ana", "model": "forth"} | more
    assert not allowed(kind, body)
    assert client.post(f"/v1/{view}", json=body).status_code == 400


def test_a_whole_number_may_have_a_point(client: httpx.Client) -> None:
    body = b'{"text": "Ana", "model": "forth", "beam": 2.0, "n_best": 1e0}'
    assert allowed("TranslateBody", json.loads(body))
    answer = client.post("/v1/translate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200, answer.text
    assert refusal(TranslateBody, {"text": "Ana", "beam": 2.5}) is not None


CHANGES: dict[str, list[Any]] = {
    "q": ["", ["Ana"], ["Ana", ""], [], 3, ["Ana", 3], None],
    "source": ["auto", "", None, 3],
    "target": ["", None, ["pt"]],
    "format": ["text", "html", "", "pdf", None, False, 0, []],
    "alternatives": [0, 1, 1.0, 1.5, -1, "1", "", "-1", " 1", "1_0", "many", None, False, [], {}],
    "api_key": ["key", None, 3],
    "more": [1],
}
changes = st.sampled_from([(name, value) for name, values in CHANGES.items() for value in values])


@settings(parent=MANY, max_examples=60)
@given(changed=st.lists(changes, max_size=2))
def test_so_it_is_for_clients_of_libretranslate(client: httpx.Client, changed: list[tuple[str, Any]]) -> None:
    body = {"q": "Ana", "source": "en", "target": "pt", **dict(changed)}
    for path, kind in (("/translate", "LibreBody"), ("/detect", "LibreDetectBody")):
        answer = client.post(path, json=body)
        assert allowed(kind, body) == (answer.status_code == 200), (path, body, answer.text)


def test_a_schema_can_disagree() -> None:
    assert not allowed("TranslateBody", {})
    assert allowed("TranslateBody", {"text": "Ana", "model": "nobody"})  # no description can know which models exist
