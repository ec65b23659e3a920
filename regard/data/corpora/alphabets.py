"""Detection of text that is spelled out in a small set of symbols: letters or phonemes apart, or single words.

Such text is read symbol by symbol. Sentences of a language are not such text: they soon have more words than a closed
set, and where no spaces stand between words more characters, or the other side of the corpus has spaces.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

MOST_SYMBOLS = 200  # that are a closed set
OFTEN = 5  # times that each has come on average, before the set can be taken for closed
NEW = 0.03  # share of symbols that came once: as probable is it that the next one is new (Good and Turing)
DISTINCT = 4096  # lines of which repeats are passed over, for they say nothing new of what may come
SHORT = 3.0  # characters of a symbol among spaces, on average: those of words are more
LONGEST = 100  # characters of a line without spaces, on average


@dataclass
class Alphabet:
    """The symbols of one side of a corpus, of as many of its lines as it was shown."""

    lines: int = 0
    spaced_lines: int = 0
    counts_of_symbols: Counter[str] = field(default_factory=Counter)  # among spaces, as long as they are few
    counts_of_characters: Counter[str] = field(default_factory=Counter)
    symbol_count: int = 0
    character_count: int = 0
    seen: dict[str, None] = field(default_factory=dict)  # the first distinct lines, in their order

    @property
    def symbols(self) -> set[str]:
        """Symbols between spaces."""
        return set(self.counts_of_symbols)

    @property
    def characters(self) -> set[str]:
        """Letters, digits and all else but white space."""
        return set(self.counts_of_characters)

    def add(self, line: str) -> None:
        """Take note of a line; a blank one and, among the first few thousand, one that came before are passed over."""
        symbols = line.split()
        if line in self.seen or not symbols:
            return
        if len(self.seen) < DISTINCT:
            self.seen[line] = None
        self.lines += 1
        self.spaced_lines += len(symbols) > 1
        self.symbol_count += len(symbols)
        self.character_count += sum(map(len, symbols))
        if len(self.counts_of_symbols) <= MOST_SYMBOLS:
            self.counts_of_symbols.update(symbols)
        if len(self.counts_of_characters) <= MOST_SYMBOLS:
            self.counts_of_characters.update("".join(symbols))

    @property
    def unit(self) -> Literal["symbol", "character"] | None:
        """The unit of spelling, symbols with spaces between them or characters without; None if neither."""
        if not self.lines:
            return None
        if self.spaced_lines <= 0.01 * self.lines:
            short = self.character_count <= LONGEST * self.lines
            return "character" if short and _is_closed(self.counts_of_characters) else None
        apart = self.spaced_lines >= 0.9 * self.lines and self.character_count <= SHORT * self.symbol_count
        return "symbol" if apart and _is_closed(self.counts_of_symbols) else None

    @property
    def units(self) -> set[str]:
        """The distinct ones of what it is spelled in."""
        return self.characters if self.unit == "character" else self.symbols

    @property
    def length(self) -> float:
        """Mean number of units per line."""
        count = self.character_count if self.unit == "character" else self.symbol_count
        return count / max(self.lines, 1)


def _is_closed(counts: Counter[str]) -> bool:
    """Return True if what was counted are few symbols, each of which came often, and hardly any more are to come."""
    total, once = counts.total(), sum(count == 1 for count in counts.values())
    return 1 < len(counts) <= MOST_SYMBOLS and total >= OFTEN * len(counts) and once <= NEW * total
