"""Views of the output: the beam search as a tree, and the distribution of the next token."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.attention.watch import without_watching
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.recipe import check
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.filters import distribution
from regard.decoding.following import log_probabilities_after
from regard.decoding.options import DecodingOptions, SamplingOptions, change_options
from regard.decoding.output import Hypothesis
from regard.decoding.trace import KeptHypothesis, Trace
from regard.loading import Loaded
from regard.seeing.sentences import Translator
from regard.tasks.language.batches import Prompts
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.tasks.translation.joining import writer_for
from regard.tasks.translation.lengths import check_length, target_tokens
from regard.viewing.choices import Choices, Panel
from regard.viewing.hypotheses import Node, Tree

# The steps of sampling in order, with their usual names.
STEPS = {
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "typical": "typical",
}
# Examples to show by default, each separately.
EXAMPLES: tuple[dict[str, float], ...] = ({"temperature": 0.5}, {"temperature": 1.5}, {"top_k": 5}, {"top_p": 0.9})
OWN = "the model's own"
NEAREST = 10  # number of output vectors to list


@runtime_checkable
class HasOutputVectors(Protocol):
    """A language model that predicts a token from a state, with a vector for each token."""

    def nearness(self, batch: Prompts) -> Tensor:
        """Return the cosine (row, token) between the state after each prompt and the vector of each token."""


@torch.no_grad()
def beam_tree(model: Translator, text: str, width: int | None = None, length_penalty: float | None = None) -> Tree:
    """Return everything that the beam search for `text` kept; defaults come from the model's recipe."""
    _check_text(model, text)
    options = _search_options(model, width, length_penalty)
    batch, trace = model.task.read([text]), Trace()
    with without_watching():
        writer = writer_for(model.task, options)
        (outputs,) = beam_search(writer, batch, model.task.limits(batch, options), options, trace=trace)
    return Tree(text, options.beam, _nodes(model.task.target_for(text), trace.sentences[0], outputs))


def _search_options(model: Translator, width: int | None, length_penalty: float | None) -> DecodingOptions:
    """Return the recipe's search options with this beam size, so that it returns all finished hypotheses."""
    width = width or model.recipe.decoding.beam
    return change_options(
        model.recipe.decoding, {"beam": width, "length_penalty": length_penalty, "n_best": width}, None
    )


def _nodes(target: Tokeniser, record: Sequence[KeptHypothesis], outputs: Sequence[Hypothesis]) -> list[Node]:
    names = target.pieces([hypothesis.token for hypothesis in record])
    written: list[list[int]] = []
    nodes = []
    for hypothesis, name in zip(record, names, strict=True):
        written.append([*([] if hypothesis.parent is None else written[hypothesis.parent]), hypothesis.token])
        # Compare identity: groups of a beam may finish equal outputs, and only one of them counts.
        rank = next((rank for rank, output in enumerate(outputs, 1) if output is hypothesis.finished), None)
        score = None if hypothesis.finished is None else hypothesis.finished.score
        text = target.decode(written[-1])
        nodes.append(
            Node(
                name,
                hypothesis.parent,
                hypothesis.log_probability,
                hypothesis.total,
                text,
                hypothesis.group,
                score,
                rank,
            )
        )
    return nodes


def next_choices(
    model: Translator,
    text: str,
    prefix: str | None = None,
    at: int | None = None,
    steps: dict[str, float] | None = None,
    shown: int = 12,
) -> Choices:
    """Return the next token after the `prefix`, or after the first `at` tokens of the best output (0 by default).

    With `steps`, sampling options, each panel shows what one of them leaves of the panel before; without them there are
    some separate examples. The `shown` most likely tokens are listed.
    """
    _check_text(model, text)
    check(SamplingOptions, dict(steps or {}), "the sampling")  # reports all faults at once, and unknown options
    before, coming = _place(model, text, prefix, at)
    target = model.task.target_for(text)
    with without_watching():
        following = log_probabilities_after(model.task, model.task.read([text]), before, model.task.device)
    choices = _choices(following, target, before, steps or {}, shown, coming)
    return replace(choices, source=text, written=target.decode(before))


@torch.no_grad()
def prompt_choices(model: Loaded, prompt: str, steps: dict[str, float] | None = None, shown: int = 12) -> Choices:
    """Return the next token after a prompt, as `next_choices` does.

    If the model predicts tokens by an output layer, the rows nearest to the state are listed too.
    """
    check(SamplingOptions, dict(steps or {}), "the sampling")
    task, tokeniser, batch = model.task, model.task.tokeniser, model.task.read([prompt])
    choices = _choices(
        log_probabilities_after(task, batch, (), task.device), tokeniser, batch.tokens[0], steps or {}, shown, None
    )
    if not isinstance(task, HasOutputVectors):
        return replace(choices, written=prompt)
    cosines, numbers = task.nearness(batch)[0].double().cpu().topk(min(NEAREST, tokeniser.size))
    nearest = zip(tokeniser.pieces(numbers.tolist()), cosines.tolist(), strict=True)
    return replace(choices, written=prompt, nearest=list(nearest))


def _choices(
    log_probabilities: Tensor,
    tokeniser: Tokeniser,
    before: Sequence[int],
    steps: dict[str, float],
    shown: int,
    coming: int | None,
) -> Choices:
    """Return a distribution after these tokens, and the effect of sampling on it."""
    order = log_probabilities.argsort(descending=True, stable=True)
    panels, origins = _panels(log_probabilities[order], steps)
    numbers = order[:shown].tolist()
    taken = numbers.index(coming) if coming in numbers else None
    return Choices("", tokeniser.pieces(before), "", tokeniser.pieces(numbers), numbers, panels, origins, taken)


@torch.no_grad()
def choices_along(model: Translator, text: str, written: Sequence[int], shown: int = 50) -> list[Choices]:
    """Return the model's distribution of the next token at each place of an output, including its end."""
    task, target = model.task, model.task.target_for(text)
    with without_watching():
        (distributions,) = forced_distributions(task, force_batch(task, [text], [written]))
    names = target.pieces(range(target.size))
    choices = []
    for place, (row, coming) in enumerate(zip(distributions.double().cpu(), [*written, task.end], strict=True)):
        sorted_row, order = row.sort(descending=True, stable=True)
        numbers = order[:shown].tolist()
        before = written[:place]
        choices.append(
            Choices(
                text,
                [names[token] for token in before],
                target.decode(before),
                [names[token] for token in numbers],
                numbers,
                [_panel(sorted_row, OWN, 0, {})],
                [0],
                numbers.index(coming) if coming in numbers else None,
            )
        )
    return choices


def _check_text(model: Translator, text: str) -> None:
    if not text.strip():
        raise Fault("There is no text to look at; give a sentence with --text.")
    check_length(model.task, text, 0)


def _place(model: Translator, text: str, prefix: str | None, at: int | None) -> tuple[list[int], int | None]:
    """Return the tokens before the place, and the best output's next token if the place is along it."""
    if prefix is not None:
        if at is not None:
            raise Fault(
                "--prefix gives the beginning of the output and --at a place in the model's own; give one of the two."
            )
        return target_tokens(model.task, prefix, "prefix", model.task.target_for(text)), None
    best, place = model.search_tokens(text), at or 0
    if place > len(best):
        raise Fault(f"The model's best output has {quantity(len(best), 'token')}; --at {place} lies beyond its end.")
    return best[:place], [*best, model.task.end][place]


def _panels(log_probabilities: Tensor, steps: dict[str, float]) -> tuple[list[Panel], list[int]]:
    """Return panels of the model's distribution and the effect of sampling, and the origin of each panel."""
    panels, origins = [_panel(log_probabilities, OWN, 0, {})], [0]
    done: dict[str, float] = {}
    for name, value in ((name, steps[name]) for name in STEPS if name in steps):
        done = {**done, name: value}
        origins.append(len(panels) - 1)
        panels.append(_panel(log_probabilities, STEPS[name] if len(done) == 1 else f"then {STEPS[name]}", value, done))
    for example in () if steps else EXAMPLES:
        ((name, value),) = example.items()
        origins.append(0)
        panels.append(_panel(log_probabilities, STEPS[name], value, example))
    return panels, origins


def _panel(log_probabilities: Tensor, name: str, value: float, options: dict[str, float]) -> Panel:
    filtered = distribution(log_probabilities[None], check(SamplingOptions, dict(options), "the sampling"))
    amount = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return Panel(name, amount if options else "", options, filtered[0].exp().numpy())
