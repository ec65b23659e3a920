"""Conversations as pairs: the preceding turns, and the reply.

A transcript has one turn per line, `A.1: Hi. How are you doing?`, and an empty line between conversations; any other
line continues the turn before. Turns become

    — Hi. How are you doing? — Good, and you?       — Fine.

with a dash before each turn of the context and none before the reply. Everything but speech is removed: sounds in angle
brackets (`<laughter>`), transcribers' marks (`[ ] + # * { }`, dashes), and broken-off words (`sta-,`). Empty turns are
left out; then consecutive turns of one speaker are joined.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from regard.base.faults import Fault

DASH = "—"

_TURN = re.compile(r"([A-Z])\.\d+: ?(.*)")
_NO_SPEECH = re.compile(r"<+[^<>]*>+|[\[\]+#*{}<>_]|\B-+|-+\B|--+")
_BROKEN = re.compile(r"[\w']+-(?=[,.?!]|\s|$),?")
_STRAY_COMMAS = re.compile(r"^[\s,.]+|,(?=\s*[,.?!])")

Turn = tuple[str, str]  # speaker and text


def read_conversations(lines: Iterable[str], name: str) -> Iterator[list[Turn]]:
    """Yield the cleaned conversations of a transcript; `name` is the file, for a fault."""
    conversation: list[Turn] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            if conversation:
                yield _cleaned(conversation)
            conversation = []
        elif turn := _TURN.fullmatch(line.strip()):
            conversation.append((turn[1], turn[2]))
        elif conversation:
            speaker, text = conversation.pop()
            conversation.append((speaker, f"{text} {line}"))
        else:
            raise Fault(f"{name}, line {number}: a conversation must begin with a turn such as 'A.1: Hello.'")
    if conversation:
        yield _cleaned(conversation)


def replies(conversation: list[Turn], context: int) -> Iterator[tuple[str, str]]:
    """Yield each turn but the first as a reply to up to `context` turns before it."""
    texts = [text for _, text in conversation]
    for place in range(1, len(texts)):
        before = texts[max(0, place - context) : place]
        yield " ".join(f"{DASH} {text}" for text in before), texts[place]


def _cleaned(conversation: list[Turn]) -> list[Turn]:
    turns = [(speaker, speech) for speaker, text in conversation if (speech := clean_speech(text))]
    return [
        (speaker, " ".join(text for _, text in turns_in_a_row))
        for speaker, turns_in_a_row in groupby(turns, lambda turn: turn[0])
    ]


def clean_speech(text: str) -> str:
    """Return the words of a turn without the transcribers' notes; empty if it has none."""
    text = _NO_SPEECH.sub(" ", _BROKEN.sub(" ", text))
    text = " ".join(_STRAY_COMMAS.sub("", " ".join(text.split())).split())
    text = re.sub(r"\s+(?=[,.?!])", "", text).strip()
    return text if any(character.isalnum() for character in text) else ""
