"""Untrained models of every family in float64, for tests of maps."""

from pathlib import Path
from typing import Any

from toy_verbs import inputs_of
from toys import open_toy

from regard.loading import Loaded
from regard.seeing.why.decision import Question
from regard.seeing.why.question import ask
from regard.verbs.opening import class_for


def toy_model(name: str, folder: Path, **model: Any) -> Loaded:
    """Return the model of a toy with its first weights, in float64."""
    run = open_toy(name, folder, **model)
    return class_for(run.recipe.task)(run.task.double(), run.recipe)


# Toys of which one can ask why, with the output to explain where an untrained model writes none.
ASKED: dict[str, str | None] = {
    **dict.fromkeys(["transformer", "seq2seq", "online", "ctc-text", "transducer-text", "hred"]),
    **dict.fromkeys(["gpt", "rnnlm", "from-gates", "bert", "classes bert", "tagging bert", "averaging", "rnn"]),
    **dict.fromkeys(["encoder", "tagging rnn", "tagging encoder", "patches", "convnet", "ram", "captioner"]),
    **dict.fromkeys(["hard captioner", "video captioner", "memory", "dmn", "ntm", "dnc", "sam", "lstm", "gat"]),
    **dict.fromkeys(["ctc", "ctc transformer", "transducer", "recurrent", "recognition"]),
    "caption-transformer": "in a in",
    "online-sounds": "ab",
    "handwriting": "01",
}
TEXTS = {"transformer", "seq2seq", "online", "ctc-text", "transducer-text"}


def toy_item(name: str, task: str, folder: Path) -> str:
    """Return an input of a toy; translators get several words."""
    return "ab ba abba" if name in TEXTS else inputs_of(name, task, folder)[0]


def toy_question(name: str, folder: Path, output: str | None = None, **model: Any) -> Question:
    """Return the question of a toy about its last output, a given one or the one in `ASKED`."""
    loaded = toy_model(name, folder, **model)
    return ask(loaded, toy_item(name, loaded.recipe.task, folder), output or ASKED.get(name))
