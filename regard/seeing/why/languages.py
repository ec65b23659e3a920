"""Questions to language models: which tokens of the text before made it expect this token?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from regard.base.arguments import one_text
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.recurrent.language import RecurrentLanguage
from regard.seeing.gazes import see_prompt
from regard.seeing.why.decision import Question, chosen_places, name_chosen, units_left
from regard.seeing.why.entrance import Entrance
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.prompts import check_fits
from regard.tasks.text import words_of


def ask_language_model(
    model: Loaded, text: str, output: str | None, place: int | None, word: str | None = None
) -> Question:
    """Return the question why a language model expects a token of `output` after `text`, or its own next token.

    All tokens before it are units, including the end that precedes every text.
    """
    task = model.task
    if not one_text("why", text).strip():
        raise Fault("There is no text to read; give a prompt.")
    (prompt,) = task.read([text]).tokens
    check_fits(task.model, Prompts([prompt]))
    if output is None:
        if place is not None or word is not None:
            raise Fault("Without an output the next token is explained; give the output whose place or word you mean.")
        token, before = int(task.foresee(Prompts([prompt]))[0].argmax()), list(prompt)
        chosen, side, places = task.tokeniser.pieces([token])[0], None, []
    else:
        written = task.tokeniser.encode(output)
        side = words_of(task.tokeniser, [*written, task.end])
        places = chosen_places(side, place, word)
        token, before = [*written, task.end][places[-1]], [*prompt, *written[: places[-1]]]
        chosen = name_chosen(side, places, word)
    check_fits(task.model, Prompts([before]))
    return replace(_question(task, text, before, token, chosen), choices=side, explained=places[-1:])


def refuse_counting_language(model: Loaded) -> None:
    """Refuse a language model that counts words instead of having vectors of them."""
    if not isinstance(model.task, GradientLanguage):
        raise Fault("This language model counts words and has no vectors of them, so no method can follow a decision.")


def _question(task: GradientLanguage, text: str, before: Sequence[int], token: int, chosen: str) -> Question:
    read, network = [task.end, *before], task.model
    entrance = _entrance(network)

    def score(tokens: Sequence[int], copies: int = 1) -> Tensor:
        rows = torch.tensor([tokens] * copies, device=task.device)
        states = network.read(rows, network.begin(copies)).states[:, -1]
        return network.logits(states).log_softmax(-1)[:, token]

    def log_probability(vectors: Tensor) -> Tensor:
        with entrance.entering(vectors):
            return score(read, len(vectors))

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        return float(score([read[place] for place in units_left(units, len(read))]))

    inputs = entrance.vectors(lambda: score(read))[0]
    side = words_of(task.tokeniser, read)
    prompt = task.tokeniser.decode(before)
    return Question(
        side.tokens,
        chosen,
        inputs,
        torch.zeros_like(inputs),
        log_probability,
        without,
        side,
        text,
        chosen,
        lambda: replace(see_prompt(task, prompt), text=text, output=chosen),
        [len(read) - 1],
        read=prompt,
        written=[token],
    )


def _entrance(network: Any) -> Entrance:
    if isinstance(network, RecurrentLanguage):
        return Entrance(network.input_dropout, before=True)
    return Entrance(network.embedding)
