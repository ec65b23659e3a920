"""Small files of labelled texts for tests."""

import random
from pathlib import Path

GOOD, BAD, NEUTRAL = ("good", "fine", "lovely"), ("bad", "awful", "dull"), ("the", "film", "is", "a", "rather", "very")


def write_labelled(path: Path, count: int, seed: int = 1) -> Path:
    """Write lines of a label and a text; a single word decides the class."""
    draws = random.Random(seed)
    lines = []
    for number in range(count):
        words = draws.choices(NEUTRAL, k=draws.randint(2, 6))
        words.insert(draws.randrange(len(words) + 1), draws.choice(GOOD if number % 2 else BAD))
        lines.append(f"{'pos' if number % 2 else 'neg'} {' '.join(words)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
