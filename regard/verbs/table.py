"""The table of rooms: where each verb is run and where its command is. A row names its places and imports nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regard.base.places import find_place


@dataclass(frozen=True)
class Room:
    """Where a verb lives, as module:name, and the sentence of `regard --help`, which is short enough to stay whole."""

    command: str
    summary: str
    run: str | None = None  # what answers a request; other verbs have more than one thing to ask for


ROOMS: dict[str, Room] = {
    "translate": Room(
        "regard.verbs.translate.command:command", "Translate text, line by line.", run="regard.verbs.translate.run:run"
    ),
    "answer": Room(
        "regard.verbs.answer.command:command",
        "Answer inputs: classes, tags, questions about stories.",
        run="regard.verbs.answer.run:run",
    ),
    "caption": Room(
        "regard.verbs.caption.command:command", "Say what pictures show.", run="regard.verbs.caption.run:run"
    ),
    "transcribe": Room(
        "regard.verbs.transcribe.command:command", "Write down what sounds say.", run="regard.verbs.transcribe.run:run"
    ),
    "speak": Room(
        "regard.verbs.speak.command:command", "Say a text: write a sound of it.", run="regard.verbs.speak.run:run"
    ),
    "draw": Room(
        "regard.verbs.draw.command:command", "Draw pictures or strokes from nothing.", run="regard.verbs.draw.run:run"
    ),
    "embed": Room(
        "regard.verbs.embed.command:command",
        "Write the vectors of texts and tokens, in every layer.",
        run="regard.verbs.embed.run:run",
    ),
    "generate": Room("regard.verbs.generate.command:command", "Write on after a prompt, with a language model."),
    "neighbours": Room("regard.verbs.words.neighbours:command", "Say which words are nearest to a word."),
    "analogy": Room("regard.verbs.words.analogy:command", "Say which word is to C as B is to A."),
    "map": Room("regard.verbs.words.map:command", "Draw words in the plane, by their vectors."),
    "look": Room("regard.verbs.look.command:command", "Draw what a model looks at."),
}


def run_of(verb: str) -> Callable[..., Any]:
    """Return what answers a request of a verb; torch is imported here where it needs it, and not before."""
    found: Callable[..., Any] = find_place(str(ROOMS[verb].run))
    return found
