"""Views of a model for the server's page: its attention, its forward pass and, for a translator, next token and beam.

The answers have the fields that `regard look` writes into its pages.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.attention.editing import editing
from regard.attention.watch import without_watching
from regard.base.doors import Limits, Question, TooLarge
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.requests.fields import Held
from regard.seeing.edited import see_both
from regard.seeing.gazes import Sight, refuse_speaker, see_input, see_prompt
from regard.seeing.lessons.forward import forward_pass
from regard.seeing.next_token import beam_tree
from regard.seeing.sentences import see, see_tokens
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.tasks.translation.lengths import target_tokens
from regard.verbs.generate.model import LanguageModel
from regard.verbs.inputs import remark_on_file, with_files
from regard.verbs.look.request import AttentionRequest, BeamRequest, ForwardRequest, NextRequest
from regard.verbs.look.sentences import check_sentence, output_tokens
from regard.verbs.look.words import look_at_words, token_places
from regard.verbs.pictures import mark_as_is
from regard.viewing.canvas import show_word
from regard.viewing.choices import Choices, Panel, place_data
from regard.viewing.drawers import page_view
from regard.viewing.forward import count_numbers, forward_data
from regard.viewing.page import side_data
from regard.viewing.sealed import named_language
from regard.viewing.seen import JOININGS, Block, Seen
from regard.viewing.tree import tree_data


def look(question: Question[Any]) -> dict[str, Any]:
    """Return the attention of a model to an input, or of a speaker who says it, with the name of the page's view."""
    body, model = question.body, question.model
    if body.mode is not None:
        found = look_at_words(model.model, body.input, body.mode, body.edits, body.write, question.limits)
        return {"view": "attention", **found}

    def look_at(inputs: list[Held]) -> dict[str, Any]:
        (held,) = inputs
        remark = "" if body.as_is else remark_on_file(model, held.content)
        sight, plain = see_both(
            model.model, body.edits, lambda: _sight_of(model.model, held.content, body.speaker, body.as_is)
        )
        view, looks = page_view(sight.between())
        outputs = {} if plain is None else {"output": sight.output, "unedited": plain.output}
        return {"view": view, "looks": looks, "remark": remark, **outputs}

    return with_files([body.input], look_at)


def _sight_of(model: Any, item: Any, speaker: str | None, as_is: bool) -> Sight:
    if isinstance(model, LanguageModel):
        refuse_speaker(speaker)
        return see_prompt(model.task, str(item))
    (input_,) = mark_as_is(model.task, [item]) if as_is else [item]
    sight = see_input(model.task, input_, speaker)
    if isinstance(item, bytes):  # a sound already has a name
        return sight
    return replace(sight, text=item.name if isinstance(item, Path) else str(item))


def attention(question: Question[AttentionRequest]) -> dict[str, Any]:
    """Return the attention weights of every block and head of a translator."""
    body, limits, began = question.body, question.limits, time.monotonic()
    model: Any = question.model
    sight, plain = see_both(model.model, body.edits, lambda: _sight(model, body, limits))
    sides = body.sides or sight.looks
    if not sight.looks:
        raise Fault("This model has no attention, so there is nothing to look at; it can translate.")
    if missing := [side for side in sides if side not in sight.looks]:
        raise Fault(f"This model has no attention on the side {missing[0]}; it has {', '.join(sight.looks)}.")
    by_word = body.mode == "words"
    seen = [_narrow(sight.seen(side, by_word), body) for side in dict.fromkeys(sides)]
    count = sum(block.weights.size for view in seen for block in view.blocks)
    if count > limits.weights:
        raise TooLarge(
            f"These are {count:,} weights, but the limit is {limits.weights:,}; ask for fewer sides, layers or heads."
        )
    with editing(model.model, body.edits or []):
        score = float(model.model.force([body.text], sight.outputs)[0])
    return {
        "source": _text(model, body.text, 0),
        "target": _text(model, sight.output, 1),
        "score": score,
        "seconds": time.monotonic() - began,
        "modes": {
            body.mode: {
                view.side: _side_fields(view, body) | token_places(sight.between(view.side), by_word) for view in seen
            }
        },
        **({} if plain is None else {"unedited": _text(model, plain.output, 1), "checksum": model.model.fingerprint}),
    }


def _sight(model: Any, body: AttentionRequest, limits: Limits) -> Sight:
    check_sentence(model, body.text, limits)
    if body.tokens is None:
        return see(model.model, body.text, body.output)
    return see_tokens(model.model, body.text, output_tokens(model, body.text, body.tokens))


def _narrow(seen: Seen, body: AttentionRequest) -> Seen:
    """Return only the requested blocks, with their heads joined if requested."""
    numbers = body.layers or range(1, len(seen.blocks) + 1)
    if max(numbers) > len(seen.blocks):
        raise Fault(f"There is no layer {max(numbers)}; on the side {seen.side} are {len(seen.blocks)}.")
    blocks = [seen.blocks[number - 1] for number in numbers]
    if body.heads != "all":
        join = JOININGS[body.heads][0]
        blocks = [Block(block.where, join(block.weights)[None]) for block in blocks]
    return replace(seen, blocks=blocks)


def _side_fields(seen: Seen, body: AttentionRequest) -> dict[str, Any]:
    data = side_data(seen)
    numbers = body.layers or range(1, len(seen.blocks) + 1)
    blocks = [{**block, "layer": number} for number, block in zip(numbers, data["blocks"], strict=True)]
    return {**data, "blocks": blocks}


def next_token(question: Question[NextRequest]) -> dict[str, Any]:
    """Return the distribution of the token at one place of an output."""
    body, began = question.body, time.monotonic()
    model: Any = question.model
    check_sentence(model, body.text, question.limits)
    task = model.model.task
    choices = _choices(model, body)
    place = place_data(choices, body.kept)
    likeliest = zip(choices.numbers, choices.tokens, place["tokens"], choices.panels[0].probabilities, strict=False)
    return {
        "source": _text(model, body.text, 0),
        "target": _text(model, choices.written, 1),
        "seconds": time.monotonic() - began,
        "before": list(choices.before),
        "vocabulary": choices.vocabulary,
        "tokens": [
            {
                "token": token,
                "text": text,
                "probability": probability,
                "taken": rank == choices.taken,
                "end": number == task.end,
            }
            for rank, (number, token, text, probability) in enumerate(likeliest)
        ],
        "log_probabilities": place["log_probabilities"],
        "rest": place["rest"],
    }


def _choices(model: Any, body: NextRequest) -> Choices:
    target = model.model.task.target_for(body.text)
    before, coming = _place(model, body)
    log_probabilities = _next_log_probabilities(model, body.text, before)
    order = np.argsort(-log_probabilities, kind="stable")
    numbers = order[: min(body.shown, body.kept)].tolist()
    return Choices(
        body.text,
        target.pieces(before),
        target.decode(before),
        target.pieces(numbers),
        numbers,
        [Panel("", "", {}, np.exp(log_probabilities[order]))],
        [0],
        numbers.index(coming) if coming in numbers else None,
    )


def _place(model: Any, body: NextRequest) -> tuple[list[int], int | None]:
    """Return the tokens before the place, and the best output's next token if the place is along it."""
    task = model.model.task
    if body.before is not None:
        tokens = model.target_tokens(body.before, body.text)
        if task.end in tokens:
            raise Fault("An output is over at its end; no token follows it.")
        return tokens, None
    if body.prefix is not None:
        return target_tokens(task, body.prefix, "prefix", task.target_for(body.text)), None
    best, at = model.model.search_tokens(body.text), body.at or 0
    if at > len(best):
        raise Fault(f"The best output has {quantity(len(best), 'token')}; {at} lies beyond its end.")
    return best[:at], [*best, task.end][at]


def _next_log_probabilities(model: Any, text: str, before: Sequence[int]) -> np.ndarray:
    """Return the log-probabilities (token) of what follows these tokens, from one forced pass."""
    import torch

    task = model.model.task
    with torch.no_grad(), without_watching():
        (distributions,) = forced_distributions(task, force_batch(task, [text], [before]))
    return distributions[-1].double().cpu().numpy()


def beam(question: Question[BeamRequest]) -> dict[str, Any]:
    """Return the beam as a tree."""
    body, limits, began = question.body, question.limits, time.monotonic()
    model: Any = question.model
    check_sentence(model, body.text, limits)
    width = body.beam or model.decoding.beam
    if width > limits.beam:
        raise Fault(f"The beam is {width} wide; here it may be at most {limits.beam}.")
    tree = beam_tree(model.model, body.text, width, body.length_penalty)
    if len(tree.nodes) > limits.nodes:
        raise TooLarge(f"These are {len(tree.nodes):,} hypotheses, but the limit is {limits.nodes:,}; narrow the beam.")
    data = tree_data(tree, (model.source, model.target))
    nodes = [{**node, "group": source.group} for node, source in zip(data["nodes"], tree.nodes, strict=True)]
    return {**data, "seconds": time.monotonic() - began, "nodes": nodes}


def forward(question: Question[ForwardRequest]) -> dict[str, Any]:
    """Return the way of a sentence from tokens to logits, with the numbers of the opened layers."""
    body, limits = question.body, question.limits
    model: Any = question.model
    target: str | list[int] | None = body.output
    if "translate" in model.can:
        check_sentence(model, body.text, limits)
        target = output_tokens(model, body.text, body.tokens) if body.tokens is not None else target
    elif body.output is not None or body.tokens is not None:
        given = "output" if body.tokens is None else "tokens"
        raise Fault(f"'{given}' is for translators; the model {model.name} only reads.")
    followed = forward_pass(model.model, body.text, target, body.query)
    places = None if body.opened is None else frozenset(body.opened)
    if (count := count_numbers(followed.layers, places)) > limits.weights:
        raise TooLarge(
            f"These are {count:,} numbers, but the limit is {limits.weights:,}; close some layers or shorten the text."
        )
    output = show_word(followed.output) if followed.output else ""
    return forward_data(followed, places) | {"text": show_word(body.text), "output": output}


def _text(model: Any, text: str, side: int) -> dict[str, str]:
    language = (model.source, model.target)[side]
    return {"text": show_word(text) if text else "", "language": named_language(language)}
