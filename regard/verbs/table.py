"""The table of verbs: each one's command, run function and doors. A row names places and imports nothing."""

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
    """The places of a verb as module:name, and its line in `regard --help`, short enough not to be cut."""

    command: str
    summary: str
    run: str | None = None  # the function that answers a request; None for verbs with several kinds of request
    doors: str | None = None  # its addresses on the server


_ROOMS = {
    "translate": Room(
        "regard.verbs.translate.command:command",
        "Translate text, line by line.",
        run="regard.verbs.translate.run:run",
        doors="regard.verbs.translate.door:DOORS",
    ),
    "look": Room(
        "regard.verbs.look.command:command",
        "Draw a model's attention, next token or beam.",
        doors="regard.verbs.look.door:DOORS",
    ),
    "answer": Room(
        "regard.verbs.answer.command:command",
        "Classify, tag, or answer questions about stories.",
        run="regard.verbs.answer.run:run",
        doors="regard.verbs.answer.door:DOORS",
    ),
    "generate": Room(
        "regard.verbs.generate.command:command",
        "Continue a prompt with a language model.",
        doors="regard.verbs.generate.door:DOORS",
    ),
    "caption": Room(
        "regard.verbs.caption.command:command",
        "Describe pictures or videos in words.",
        run="regard.verbs.caption.run:run",
        doors="regard.verbs.caption.door:DOORS",
    ),
    "transcribe": Room(
        "regard.verbs.transcribe.command:command",
        "Transcribe speech to text.",
        run="regard.verbs.transcribe.run:run",
        doors="regard.verbs.transcribe.door:DOORS",
    ),
    "speak": Room(
        "regard.verbs.speak.command:command",
        "Speak a text into a sound file.",
        run="regard.verbs.speak.run:run",
        doors="regard.verbs.speak.door:DOORS",
    ),
    "draw": Room(
        "regard.verbs.draw.command:command",
        "Generate pictures or strokes.",
        run="regard.verbs.draw.run:run",
        doors="regard.verbs.draw.door:DOORS",
    ),
    "embed": Room(
        "regard.verbs.embed.command:command",
        "Write the vectors of texts and tokens, layer by layer.",
        run="regard.verbs.embed.run:run",
        doors="regard.verbs.embed.door:DOORS",
    ),
    "neighbours": Room(
        "regard.verbs.words.neighbours:command",
        "List the words nearest to a word.",
        doors="regard.verbs.words.door:DOORS",
    ),
    "analogy": Room(
        "regard.verbs.words.analogy:command",
        "Find the word that is to C as B is to A.",
    ),
    "map": Room(
        "regard.verbs.words.map:command",
        "Draw word vectors on a plane.",
    ),
}
ROOMS: Table[str, Room] = Table("verbs", "verb", Room, _ROOMS)


@cache
def verb_doors() -> "tuple[VerbDoor, ...]":
    """Return the doors of all verbs, in the order of the table."""
    return tuple(door for room in ROOMS.values() if room.doors for door in find_place(room.doors))


def run_of(verb: str) -> Callable[..., Any]:
    """Return the function that answers requests of a verb; this imports torch if the verb needs it."""
    function: Callable[..., Any] = find_place(str(ROOMS[verb].run))
    return function
