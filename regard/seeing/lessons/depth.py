"""Gradients in deep stacks: the norm by layer, with and without residual connections and norms."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.parts import Residual
from regard.seeing.lessons.gradients import in_tens
from regard.seeing.sentences import Translator
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.translation.forcing import force_batch, forced_token_scores
from regard.tasks.translation.lengths import check_length
from regard.tasks.translation.task import Translation
from regard.viewing.canvas import show_word
from regard.viewing.lessons import Lesson, LessonPanel, Line

LAYER = "layer, l"
DOWN = "layers down from the top, d"
NORM = "‖∂L / ∂x(top − d)‖"
ROWS = 16  # random inputs that pass through a stack together
Sublayer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class DeepStack:
    """Settings of an untrained stack; the same settings give the same numbers."""

    layers: int = 24
    width: int = 32
    seed: int = 1


def _norm(states: Tensor) -> Tensor:
    """Layer norm with gain 1 and bias 0."""
    return F.layer_norm(states, states.shape[-1:])


# How a layer wraps its sublayer f.
WRAPPERS: dict[str, Callable[[Tensor, Sublayer], Tensor]] = {
    "plain": lambda x, f: f(x),
    "norm alone": lambda x, f: _norm(f(x)),
    "residual alone": lambda x, f: x + f(x),
    "residual, norm after": lambda x, f: _norm(x + f(x)),
    "residual, norm before": lambda x, f: x + f(_norm(x)),
}
FORMULAS = "f(x), norm(f(x)), x + f(x), norm(x + f(x)) and x + f(norm(x))"


def draw_sublayers(stack: DeepStack) -> list[tuple[Tensor, Tensor]]:
    """Return the matrices (V, U) of f(x) = U relu(V x) for each layer, drawn as in our Transformers."""
    generator, inner = torch.Generator().manual_seed(stack.seed), 4 * stack.width
    layers = []
    for _ in range(stack.layers):
        inward = torch.empty(inner, stack.width, dtype=torch.float64)
        outward = torch.empty(stack.width, inner, dtype=torch.float64)
        for matrix in (inward, outward):
            nn.init.xavier_uniform_(matrix, generator=generator)
        layers.append((inward, outward))
    return layers


def _feed_forward(inward: Tensor, outward: Tensor, states: Tensor) -> Tensor:
    """f(x) = U relu(V x)."""
    return F.relu(states @ inward.mT) @ outward.mT


def stack_norms(
    kind: str, inputs: Tensor, sublayers: Sequence[tuple[Tensor, Tensor]], upstream: Tensor
) -> tuple[list[float], list[float]]:
    """Return ‖∂L/∂x_l‖ for L = ⟨upstream, x_L⟩, and the root mean square of x_l, for l = 0, 1, …, L."""
    wrap, states = WRAPPERS[kind], [inputs.clone().requires_grad_()]
    for matrices in sublayers:
        states.append(wrap(states[-1], partial(_feed_forward, *matrices)))
    gradients = torch.autograd.grad((states[-1] * upstream).sum(), states)
    return [float(g.norm()) for g in gradients], [float(x.detach().square().mean().sqrt()) for x in states]


def depth_lesson(stack: DeepStack) -> Lesson:
    """Return a lesson on five ways to stack the same random layers."""
    generator = torch.Generator().manual_seed(stack.seed + 1)
    shape = ROWS, stack.width
    inputs, upstream = (torch.randn(shape, dtype=torch.float64, generator=generator) for _ in range(2))
    sublayers = draw_sublayers(stack)
    gradients, sizes = [], []
    for colour, kind in enumerate(WRAPPERS):
        norms, scales = stack_norms(kind, inputs, sublayers, upstream / upstream.norm())
        gradients.append(Line(kind, list(enumerate(norms[::-1])), colour))
        sizes.append(Line(kind, list(enumerate(scales)), colour))
    left = ", ".join(f"{in_tens(line.points[-1][1])} ({line.name})" for line in gradients)
    backward = (
        f"A gradient of norm 1 enters at the top and travels down {stack.layers} layers to the inputs, where it has "
        f"this norm: {left}. The layers are {FORMULAS}, all with the same f(x) = U relu(V x)."
    )
    forward = (
        "The residual connection passes x on, so nothing is lost on the way up; without a norm, what f adds piles up. "
        "A norm after each layer keeps the size at 1."
    )
    panels = [
        LessonPanel(f"Backward: the gradient, {stack.layers} layers", DOWN, NORM, gradients, backward),
        LessonPanel("Forward: the size of the states", LAYER, "root mean square of x(l)", sizes, forward),
    ]
    return Lesson("How a gradient travels through a deep stack", panels)


def trained_depth_lesson(model: "Loaded | Translator", text: str) -> Lesson:
    """Return the gradient of a text's loss with respect to the output of each block of a trained model."""
    if not text.strip():
        raise Fault("There is no text to read; give a sentence with --text.")
    exact, loss = _exact_loss(model, text)
    stacks = block_stacks(exact)
    if not stacks:
        raise Fault(f"This {model.recipe.family} has no blocks with residual connections; give a Transformer or a GPT.")
    norms = block_gradients(stacks, loss)
    lines = [
        Line(name, list(enumerate(by_block[::-1])), colour) for colour, (name, by_block) in enumerate(norms.items())
    ]
    kept = ", ".join(
        f"{in_tens(line.points[-1][1] / line.points[0][1]) if line.points[0][1] else '–'} ({line.name})"
        for line in lines
    )
    caption = (
        "The gradient of the mean loss of a token with respect to the states after each block, and at last with "
        f"respect to the input of the first, where its norm is this multiple of that at the top: {kept}."
    )
    panel = LessonPanel("A trained model, block by block", DOWN, NORM, lines, caption)
    return Lesson(f"How the gradient of “{show_word(text)}” travels down", [panel])


def _exact_loss(model: "Loaded | Translator", text: str) -> tuple[nn.Module, Callable[[], Tensor]]:
    """Return the task in float64 on the CPU, and a function that computes the mean loss of a token of the text."""
    if isinstance(model.task, GradientLanguage):
        exact = deepcopy(model.task).double().cpu().eval()
        batch = exact.text_batch([exact.tokeniser.encode(line) for line in text.splitlines()])
        return exact, lambda: exact.loss(batch).total / batch.count
    if isinstance(model.task, Translation):
        check_length(model.task, text, 0)
        written = cast("Translator", model).search_tokens(text)
        translation = deepcopy(model.task).double().cpu().eval()
        forced = force_batch(translation, [text], [written])
        return translation, lambda: -forced_token_scores(translation, forced)[0].mean()
    raise Fault(f"This {model.recipe.family} writes no text; give a translator or a language model.")


def block_stacks(network: nn.Module) -> dict[str, nn.ModuleList]:
    """Return the stacks of blocks with residual connections, by the last part of their names."""
    return {
        name.rpartition(".")[2]: part
        for name, part in network.named_modules()
        if isinstance(part, nn.ModuleList)
        and len(part)
        and all(any(isinstance(inner, Residual) for inner in block.modules()) for block in part)
    }


def block_gradients(stacks: dict[str, nn.ModuleList], loss: Callable[[], Tensor]) -> dict[str, list[float]]:
    """Return the norm of the gradient at the input of each stack and after each of its blocks."""
    states: dict[str, list[Tensor]] = {name: [] for name in stacks}
    handles = []
    for name, blocks in stacks.items():

        def enter(_: nn.Module, arguments: tuple[Any, ...], into: list[Tensor] = states[name]) -> None:
            into.append(arguments[0])

        def leave(_: nn.Module, __: Any, output: Any, into: list[Tensor] = states[name]) -> None:
            into.append(output[0] if isinstance(output, tuple) else output)

        handles.append(blocks[0].register_forward_pre_hook(enter))
        handles += [block.register_forward_hook(leave) for block in blocks]
    try:
        total = loss()
    finally:
        for handle in handles:
            handle.remove()
    flat = [state for layers in states.values() for state in layers]
    found = iter(torch.autograd.grad(total, flat))
    return {name: [float(next(found).norm()) for _ in layers] for name, layers in states.items()}
