"""Exports that continue prompts: the texts of torch, their refusals, and no torch."""

import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_onnx_answers import exported

import regard
from regard.base.faults import Fault, TooLong
from regard.cli import main
from regard.decoding.chance import uniform
from regard.decoding.filters import distribution as distribution_by_torch
from regard.decoding.options import DrawOptions, SamplingOptions
from regard.engines.plain_sampling import _uniform, distribution
from regard.verbs.generate.telling import WrittenToken

PROMPTS = ["b a", "", "c a\nb"]
SEARCHES: list[dict[str, Any]] = [
    {"beam": 1},
    {"beam": 3, "n_best": 3},
    {"beam": 2, "search": {"stop": "first"}},
    {"beam": 2, "search": {"stop": "exhaustive", "length_penalty_kind": "average"}},
    {"beam": 1, "past_end": True},
    {"beam": 2, "past_end": True, "when_full": "forget"},
    {"samples": 3, "sample": {"seed": 5, "temperature": 0.8}},
    {"sample": {"temperature": 0.0}},
    {"sample": {"seed": 2, "top_k": 6, "top_p": 0.9, "min_p": 0.01, "typical": 0.95}, "past_end": True},
    {"sample": {"seed": 3}, "past_end": True, "when_full": "forget"},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> regard.Model:
    return exported("gpt", tmp_path_factory.mktemp("gpt"), layers=2, context=12)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_texts_are_those_of_torch(model: regard.Model, search: dict[str, Any]) -> None:
    ours, theirs = (model.generate(PROMPTS, tokens=30, engine=name, **search) for name in ("onnx", "torch"))
    assert [len(texts) for texts in ours] == [len(texts) for texts in theirs]
    for found, expected in zip(chain(*ours), chain(*theirs), strict=True):
        assert (found.text, found.tokens, found.ended) == (expected.text, expected.tokens, expected.ended)
        assert found.forgotten == expected.forgotten
        assert found.token_scores == pytest.approx(expected.token_scores, rel=1e-4, abs=1e-5)
        assert found.score == pytest.approx(expected.score, rel=1e-4, abs=1e-5)


def test_the_context_is_forgotten_in_these_tests(model: regard.Model) -> None:
    ((text,),) = model.generate(["b a"], tokens=30, beam=1, past_end=True, when_full="forget", engine="onnx")
    assert text.forgotten > 0
    ((cut,),) = model.generate(["b a"], tokens=30, beam=1, past_end=True, engine="onnx")
    assert cut.ended == "context"


@pytest.mark.parametrize("search", [{"beam": 1}, {"sample": {"seed": 4}}, {"beam": 2}], ids=str)
def test_tokens_are_told_as_they_are_written(model: regard.Model, search: dict[str, Any]) -> None:
    from regard.verbs.generate.request import GenerateRequest

    request = GenerateRequest.read({"prompt": ["b a"], "tokens": 8, "engine": "onnx", **search})
    told: list[WrittenToken] = []
    first, *_ = model.generate_aloud(request, told.append)  # type: ignore[attr-defined]
    assert [token.token for token in told] == first.tokens
    assert [token.score for token in told] == pytest.approx(first.token_scores[: len(told)])


def test_random_numbers_and_filters_are_those_of_torch() -> None:
    for keys in ((0, 0, 0), (3, 1, 70), (2**40 + 5, 9, 2)):
        tensors = [torch.tensor([key]) for key in keys]
        for seed in (0, 1, 2**62 + 3):
            assert _uniform(seed, *keys) == float(uniform(seed, *tensors))
    torch.manual_seed(2)
    likely = torch.randn(40).mul(3).log_softmax(0)
    likely[3] = -torch.inf
    for options in (
        {},
        {"temperature": 0.3},
        {"temperature": 0.0},
        {"top_k": 5},
        {"top_p": 0.7},
        {"min_p": 0.1},
        {"typical": 0.6},
        {"temperature": 1.4, "top_k": 20, "top_p": 0.9, "min_p": 0.02, "typical": 0.9},
    ):
        expected = distribution_by_torch(likely[None], SamplingOptions(**options))[0]
        np.testing.assert_allclose(distribution(likely.numpy(), DrawOptions(**options)), expected, rtol=1e-9)


def test_int8_is_close(tmp_path: Path) -> None:
    model = exported("gpt", tmp_path, "int8", width=32)
    ours, theirs = (model.generate(["b a"], tokens=1, beam=1, engine=name) for name in ("onnx", "torch"))
    assert ours[0][0].score == pytest.approx(theirs[0][0].score, abs=0.1)
    assert ours[0][0].score != theirs[0][0].score


def test_what_an_export_cannot_do_is_refused_or_left_to_torch(model: regard.Model) -> None:
    with pytest.raises(Fault, match="onnxruntime cannot do 'unrepeated'; omit it, or use torch"):
        model.generate(["b a"], beam=1, search={"unrepeated": 2}, engine="onnx")
    with pytest.raises(Fault, match="onnxruntime cannot do 'draft'; omit it, or set 'engine' to torch"):
        model.generate(["b a"], beam=1, draft="lookup", engine="onnx")
    ruled = {"beam": 1, "tokens": 20, "search": {"unrepeated": 2}}
    assert model.generate(["b a"], engine="auto", **ruled) == model.generate(["b a"], **ruled)


def test_a_prompt_that_fills_the_context_is_refused_by_its_number(model: regard.Model) -> None:
    prompts = ["b a", "b a " * 20]
    with pytest.raises(TooLong) as by_torch:
        model.generate(prompts, engine="torch")
    with pytest.raises(TooLong) as by_export:
        model.generate(prompts, engine="onnx")
    assert str(by_export.value) == str(by_torch.value)
    (texts,) = model.generate(prompts[1:], tokens=5, beam=1, when_full="forget", engine="onnx")
    assert texts[0].text == model.generate(prompts[1:], tokens=5, beam=1, when_full="forget")[0][0].text


def test_the_command_continues_without_torch(model: regard.Model, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", str(model.folder), "--prompt", "b a", "--seed", "3", "--tokens", "9"]
    assert main([*arguments, "--engine", "torch"]) == 0
    code = (
        "import sys; from regard.cli import main\n"
        f"code = main({arguments!r})\n"
        "sys.exit('torch was loaded' if 'torch' in sys.modules else code)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == capsys.readouterr().out
