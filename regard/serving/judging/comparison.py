"""Pairs of outputs for judges to compare, shown in an order that does not say whose they are."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from regard.metrics.judgements import Question, Side

# The formats that browsers show or play, by suffix.
MEDIA = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
}


@dataclass(frozen=True)
class Shown:
    """Something a judge reads, sees or hears: a text, or the content of a file and its media type."""

    text: str = ""
    content: bytes = b""
    media: str = ""

    @property
    def kind(self) -> Literal["text", "picture", "sound"]:
        if not self.media:
            return "text"
        return "sound" if self.media.startswith("audio/") else "picture"

    def as_dict(self) -> dict[str, Any]:
        """Return it for the page, which fetches files from addresses that do not name them."""
        return {"kind": self.kind, "text": self.text}


@dataclass(frozen=True)
class Item:
    """Two outputs for the same source, and a name for votes: the number of a line, or the name of a file."""

    name: str
    source: Shown | None
    a: Shown
    b: Shown


@dataclass(frozen=True)
class Seen:
    """An item as one judge sees it: `sides` tells which output comes first."""

    item: Item
    sides: tuple[Side, Side]

    @property
    def outputs(self) -> tuple[Shown, Shown]:
        by_side = {"a": self.item.a, "b": self.item.b}
        return by_side[self.sides[0]], by_side[self.sides[1]]


@dataclass(frozen=True)
class Comparison:
    """The items, a label for each side, the question, and the side that a person wrote, if one did."""

    items: Sequence[Item]
    a: str
    b: str
    question: Question = "better"
    person: Side | None = None

    @cached_property
    def identity(self) -> str:
        """A checksum of everything that is judged, by which votes know their comparison."""
        found = hashlib.sha256(f"{self.question} {self.person}".encode())
        for item in self.items:
            for part in (Shown(item.name), item.source or Shown(), item.a, item.b):
                for content in (part.text.encode(errors="surrogatepass"), part.content):
                    found.update(len(content).to_bytes(8, "big") + content)
        return found.hexdigest()[:16]

    def order_for(self, judge: str) -> list[Seen]:
        """Return the items in the order of a judge, who sees each side first equally often.

        The order depends only on the comparison and the judge's name, so a page that is reloaded continues in it.
        """
        chance = random.Random(f"{self.identity} {judge}")
        items = list(self.items)
        chance.shuffle(items)
        halves: list[tuple[Side, Side]] = [("a", "b"), ("b", "a")]
        chance.shuffle(halves)
        sides = [halves[place % 2] for place in range(len(items))]
        chance.shuffle(sides)
        return [Seen(item, order) for item, order in zip(items, sides, strict=True)]
