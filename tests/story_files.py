"""Small stories in the format of bAbI: who goes where, and where someone is."""

import random
from pathlib import Path

PEOPLE, PLACES = ("Ana", "Rui", "Eva"), ("garden", "kitchen", "office")


def write_stories(path: Path, stories: int, seed: int = 1) -> Path:
    """Write stories of four facts, with a question after every second fact."""
    draws, lines = random.Random(seed), list[str]()
    for _ in range(stories):
        where: dict[str, tuple[str, int]] = {}
        for number in (1, 2, 4, 5):
            person, place = draws.choice(PEOPLE), draws.choice(PLACES)
            where[person] = place, number
            lines.append(f"{number} {person} went to the {place}.")
            if number in (2, 5):
                subject = draws.choice(sorted(where))
                answer, support = where[subject]
                lines.append(f"{number + 1} Where is {subject}? \t{answer}\t{support}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
