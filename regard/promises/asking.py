"""Every verb that a model can be asked with two inputs, and the comparison of answers."""

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
        return {field.name: plain(getattr(tree, field.name)) for field in fields(tree)}
    if isinstance(tree, dict):
        return {name: plain(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(item) for item in tree]
    return tree


def check_same(result: Any, expected: Any, where: str = "result") -> None:
    """Compare the results of two computations: texts exactly, numbers within float32 rounding."""
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        is_same = isinstance(result, float | int) and (
            math.isclose(result, expected, rel_tol=1e-3, abs_tol=1e-4) or (math.isnan(result) and math.isnan(expected))
        )
    elif isinstance(expected, dict):
        is_same = isinstance(result, dict) and result.keys() == expected.keys()
        for name in expected if is_same else ():
            check_same(result[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list):
        is_same = isinstance(result, list) and len(result) == len(expected)
        for place, other in enumerate(expected if is_same else ()):
            check_same(result[place], other, f"{where}[{place}]")
    else:
        is_same = result == expected
    if not is_same:
        raise Broken(f"{where} is {_short(result)}, expected {_short(expected)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _outputs(outputs: Iterable[Any]) -> list[Any]:
    return [[output.text, output.score] for output in outputs]


def _answers(model: Model, inputs: Sequence[str]) -> Any:
    return [[answer.answer, answer.probability] for answer in model.answer(inputs)]


ASKED: dict[str, Callable[[Model, Sequence[str]], Any]] = {
    "translate": lambda model, inputs: _outputs(model.translate(inputs, beam=2)),
    "generate": lambda model, inputs: [_outputs(outputs) for outputs in model.generate(inputs, tokens=4, beam=2)],
    "caption": lambda model, inputs: _outputs(model.caption(inputs, beam=2)),
    "transcribe": lambda model, inputs: _outputs(model.transcribe(inputs)),
    "answer": _answers,
    "speak": lambda model, inputs: [len(sound.samples) for sound in model.speak(inputs, seconds=0.2, rounds=2)],
    "draw": lambda model, inputs: len(model.draw(2, prompt=inputs[0] if model.recipe.task == "painting" else None)),
    "embed": lambda model, inputs: [plain(vectors.layers) for vectors in model.embed(inputs)],
    "neighbours": lambda model, inputs: plain(model.neighbours(["the"], 3)),
    "analogy": lambda model, inputs: plain(model.analogy("the", "house", "woman", 3)),
    "look": lambda model, inputs: plain(model.look(inputs[0]).numbers()),
}
# Verbs with one output per input, which must not depend on the other inputs.
ONE_EACH = ("translate", "generate", "caption", "transcribe", "answer", "embed")
