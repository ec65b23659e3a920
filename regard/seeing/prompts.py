"""From a language model and a prompt to what it looked at while it read, and what it would write next."""

from math import exp

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.seeing.gazes import Sight
from regard.verbs.generate.model import LanguageModel
from regard.viewing.written import percent


def see_prompt(model: LanguageModel, prompt: str) -> Sight:
    """Let a language model read a prompt, and watch it; what comes of it is the token that it finds most probable."""
    if not prompt.strip():
        raise Fault("There is no text to look at; give a prompt.")
    task = model.task
    batch = task.read([prompt])
    with watching(task.model) as gazes:
        scores = task.foresee(batch)[0]
    token = int(scores.argmax())
    output = f"{task.tokeniser.pieces([token])[0]} ({percent(exp(scores[token]))})"
    return Sight(prompt, output, [token], task.sides(batch, [token]), gazes)
