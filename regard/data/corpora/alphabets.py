"""Whether text is spelled out in a small closed set of symbols: letters or phonemes apart, or words by themselves.

Such text is read symbol by symbol. Sentences of a language are not such text: they soon have more words than a closed
set, and where no spaces stand between words more characters, or the other side of the corpus has spaces.
"""

from dataclasses import dataclass, field
from typing import Literal

MOST_SYMBOLS = 200  # that are a closed set
OFTEN = 50  # times that each has come on average, before the set can be taken for closed
SHORT = 3.0  # characters of a symbol among spaces, on average: those of words are more
LONGEST = 100  # characters of a line without spaces, on average


@dataclass
class Alphabet:
    """The symbols of one side of a corpus, of as many of its lines as it was shown."""

    lines: int = 0
    spaced_lines: int = 0
    symbols: set[str] = field(default_factory=set)  # what stands among spaces, as long as they are few
    characters: set[str] = field(default_factory=set)
    symbol_count: int = 0
    character_count: int = 0

    def add(self, line: str) -> None:
        """Take note of a line that is not blank."""
        symbols = line.split()
        self.lines += bool(symbols)
        self.spaced_lines += len(symbols) > 1
        self.symbol_count += len(symbols)
        self.character_count += sum(map(len, symbols))
        if len(self.symbols) <= MOST_SYMBOLS:
            self.symbols.update(symbols)
        if len(self.characters) <= MOST_SYMBOLS:
            self.characters.update(*symbols)

    @property
    def unit(self) -> Literal["symbol", "character"] | None:
        """What the text is spelled in, symbols with spaces between them or characters without; None if in neither."""
        if not self.lines:
            return None
        if self.spaced_lines <= 0.01 * self.lines:
            short = self.character_count <= LONGEST * self.lines
            return "character" if short and _is_closed(self.characters, self.character_count) else None
        apart = self.spaced_lines >= 0.9 * self.lines and self.character_count <= SHORT * self.symbol_count
        return "symbol" if apart and _is_closed(self.symbols, self.symbol_count) else None

    @property
    def units(self) -> set[str]:
        """The distinct ones of what it is spelled in."""
        return self.characters if self.unit == "character" else self.symbols

    @property
    def length(self) -> float:
        """How many of them a line has, on average."""
        count = self.character_count if self.unit == "character" else self.symbol_count
        return count / max(self.lines, 1)


def _is_closed(distinct: set[str], count: int) -> bool:
    return 1 < len(distinct) <= MOST_SYMBOLS and count >= OFTEN * len(distinct)
