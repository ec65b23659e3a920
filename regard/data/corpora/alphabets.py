"""Detect text spelled in a small set of symbols: separate letters or phonemes, or single words.

Such text is read symbol by symbol. Sentences of a language are different: they soon have more words than a closed set.
Without spaces between words, they have more characters, or the other side of the corpus has spaces.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

MOST_SYMBOLS = 200  # in a closed set
OFTEN = 5  # mean occurrences of a symbol before the set can count as closed
NEW = 0.03  # most symbols seen once, as a share; it estimates how likely a new one is (Good and Turing)
DISTINCT = 4096  # lines among which repeats are skipped, since they say nothing new
SHORT = 3.0  # mean characters of a symbol between spaces; words have more
LONGEST = 100  # mean characters of a line without spaces


@dataclass
class Alphabet:
    """The symbols of one side of a corpus, from the lines added so far."""

    lines: int = 0
    spaced_lines: int = 0
    counts_of_symbols: Counter[str] = field(default_factory=Counter)  # between spaces, while they are few
    counts_of_characters: Counter[str] = field(default_factory=Counter)
    symbol_count: int = 0
    character_count: int = 0
    seen: dict[str, None] = field(default_factory=dict)  # the first distinct lines, in order

    @property
    def symbols(self) -> set[str]:
        """Symbols between spaces."""
        return set(self.counts_of_symbols)

    @property
    def characters(self) -> set[str]:
        """All characters except white space."""
        return set(self.counts_of_characters)

    def add(self, line: str) -> None:
        """Count a line; skip blank lines and, among the first few thousand, repeats."""
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
        """Unit of spelling: symbols between spaces, or characters without spaces; None if neither."""
        if not self.lines:
            return None
        if self.spaced_lines <= 0.01 * self.lines:
            short = self.character_count <= LONGEST * self.lines
            return "character" if short and _is_closed(self.counts_of_characters) else None
        separate = self.spaced_lines >= 0.9 * self.lines and self.character_count <= SHORT * self.symbol_count
        return "symbol" if separate and _is_closed(self.counts_of_symbols) else None

    @property
    def units(self) -> set[str]:
        """Distinct units of spelling."""
        return self.characters if self.unit == "character" else self.symbols

    @property
    def length(self) -> float:
        """Mean number of units per line."""
        count = self.character_count if self.unit == "character" else self.symbol_count
        return count / max(self.lines, 1)


def _is_closed(counts: Counter[str]) -> bool:
    """Return True if there are few symbols, each seen often, and hardly any new ones are to be expected."""
    total, once = counts.total(), sum(count == 1 for count in counts.values())
    return 1 < len(counts) <= MOST_SYMBOLS and total >= OFTEN * len(counts) and once <= NEW * total
