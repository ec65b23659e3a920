"""The table of rooms: where each verb is run, its command and its doors. A row names places and imports nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from regard.base.places import find_place
from regard.base.plugins import Table

if TYPE_CHECKING:
    from regard.base.doors import VerbDoor


@dataclass(frozen=True)
class Room:
    """Where a verb lives, as module:name, and the sentence of `regard --help`, which is short enough to stay whole."""

    command: str
    summary: str
    run: str | None = None  # what answers a request; other verbs have more than one thing to ask for
    doors: str | None = None  # its addresses at the server


_ROOMS = {
    "translate": Room(
        "regard.verbs.translate.command:command",
        "Translate text, line by line.",
        run="regard.verbs.translate.run:run",
        doors="regard.verbs.translate.door:DOORS",
    ),
    "look": Room(
        "regard.verbs.look.command:command",
        "Draw what a model looks at.",
        doors="regard.verbs.look.door:DOORS",
    ),
    "answer": Room(
        "regard.verbs.answer.command:command",
        "Answer inputs: classes, tags, questions about stories.",
        run="regard.verbs.answer.run:run",
        doors="regard.verbs.answer.door:DOORS",
    ),
    "generate": Room(
        "regard.verbs.generate.command:command",
        "Write on after a prompt, with a language model.",
        doors="regard.verbs.generate.door:DOORS",
    ),
    "caption": Room(
        "regard.verbs.caption.command:command",
        "Say what pictures show.",
        run="regard.verbs.caption.run:run",
        doors="regard.verbs.caption.door:DOORS",
    ),
    "transcribe": Room(
        "regard.verbs.transcribe.command:command",
        "Write down what sounds say.",
        run="regard.verbs.transcribe.run:run",
        doors="regard.verbs.transcribe.door:DOORS",
    ),
    "speak": Room(
        "regard.verbs.speak.command:command",
        "Say a text: write a sound of it.",
        run="regard.verbs.speak.run:run",
        doors="regard.verbs.speak.door:DOORS",
    ),
    "draw": Room(
        "regard.verbs.draw.command:command",
        "Draw pictures or strokes from nothing.",
        run="regard.verbs.draw.run:run",
        doors="regard.verbs.draw.door:DOORS",
    ),
    "embed": Room(
        "regard.verbs.embed.command:command",
        "Write the vectors of texts and tokens, in every layer.",
        run="regard.verbs.embed.run:run",
        doors="regard.verbs.embed.door:DOORS",
    ),
    "neighbours": Room(
        "regard.verbs.words.neighbours:command",
        "Say which words are nearest to a word.",
        doors="regard.verbs.words.door:DOORS",
    ),
    "analogy": Room(
        "regard.verbs.words.analogy:command",
        "Say which word is to C as B is to A.",
    ),
    "map": Room(
        "regard.verbs.words.map:command",
        "Draw words in the plane, by their vectors.",
    ),
}
ROOMS: Table[str, Room] = Table("verbs", "verb", Room, _ROOMS)


@cache
def verb_doors() -> "tuple[VerbDoor, ...]":
    """Return the doors of all rooms, in the order of the table."""
    return tuple(door for room in ROOMS.values() if room.doors for door in find_place(room.doors))


def run_of(verb: str) -> Callable[..., Any]:
    """Return what answers a request of a verb; torch is imported here where it needs it, and not before."""
    found: Callable[..., Any] = find_place(str(ROOMS[verb].run))
    return found
