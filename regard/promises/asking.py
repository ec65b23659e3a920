"""Every verb that can be asked of a model with two inputs, and the comparison of what is answered."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from torch import Tensor

from regard.model import Model
from regard.promises.trial import Broken


def plain(tree: Any) -> Any:
    """Return a result as plain numbers, texts, lists and dictionaries."""
    if isinstance(tree, Tensor):
        return tree.detach().float().cpu().tolist()
    if isinstance(tree, np.ndarray):
        return tree.tolist()
    if is_dataclass(tree) and not isinstance(tree, type):
        return {each.name: plain(getattr(tree, each.name)) for each in fields(tree)}
    if isinstance(tree, dict):
        return {name: plain(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(each) for each in tree]
    return tree


def check_same(found: Any, expected: Any, where: str = "result") -> None:
    """Compare results of two ways to compute: texts to the letter, numbers within what float32 leaves open."""
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        is_same = isinstance(found, float | int) and (
            math.isclose(found, expected, rel_tol=1e-3, abs_tol=1e-4) or (math.isnan(found) and math.isnan(expected))
        )
    elif isinstance(expected, dict):
        is_same = isinstance(found, dict) and found.keys() == expected.keys()
        for name in expected if is_same else ():
            check_same(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list):
        is_same = isinstance(found, list) and len(found) == len(expected)
        for place, other in enumerate(expected if is_same else ()):
            check_same(found[place], other, f"{where}[{place}]")
    else:
        is_same = found == expected
    if not is_same:
        raise Broken(f"{where} is {_short(found)}, expected {_short(expected)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _outputs(found: Iterable[Any]) -> list[Any]:
    return [[each.text, each.score] for each in found]


def _answers(model: Model, inputs: Sequence[str]) -> Any:
    return [[each.answer, each.probability] for each in model.answer(inputs)]


ASKED: dict[str, Callable[[Model, Sequence[str]], Any]] = {
    "translate": lambda model, inputs: _outputs(model.translate(inputs, beam=2)),
    "generate": lambda model, inputs: [_outputs(each) for each in model.generate(inputs, tokens=4, beam=2)],
    "caption": lambda model, inputs: _outputs(model.caption(inputs, beam=2)),
    "transcribe": lambda model, inputs: _outputs(model.transcribe(inputs)),
    "answer": _answers,
    "speak": lambda model, inputs: [len(each.samples) for each in model.speak(inputs, seconds=0.2, rounds=2)],
    "draw": lambda model, inputs: len(model.draw(2, prompt=inputs[0] if model.recipe.task == "painting" else None)),
    "embed": lambda model, inputs: [plain(each.layers) for each in model.embed(inputs)],
    "neighbours": lambda model, inputs: plain(model.neighbours(["the"], 3)),
    "analogy": lambda model, inputs: plain(model.analogy("the", "house", "woman", 3)),
    "look": lambda model, inputs: plain(model.look(inputs[0]).numbers()),
}
# Verbs whose outputs, one for each input, may not depend on what else was asked at once.
ONE_EACH = ("translate", "generate", "caption", "transcribe", "answer", "embed")
