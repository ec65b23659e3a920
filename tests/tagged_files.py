"""Generated tagged sentences in which endings decide the tag: nouns end in o, verbs in a."""

import random
from pathlib import Path

CHUNKS = {"columns": ["word", "-", "tag"], "scheme": "iob2"}


def write_tagged(path: Path, sentences: int, seed: int = 1) -> Path:
    """Write a file with columns for the word, whether it is short, and its chunk. Many random words are new."""
    draw = random.Random(seed)

    def word(ending: str) -> str:
        return "".join(draw.choice("bdfglmnprst") + draw.choice("eiu") for _ in range(draw.randint(1, 2))) + ending

    lines = []
    for _ in range(sentences):
        for _ in range(draw.randint(1, 2)):
            lines += [("the", "B-NP"), (word("o"), "I-NP"), (word("a"), "B-VP")]
        lines += [(".", "O"), ("", "")]
    rows = [f"{form} {'short' if len(form) < 4 else 'long'} {tag}" if form else "" for form, tag in lines]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
