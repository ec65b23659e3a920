"""One prompt continued by several language models under every search, and how much each of them repeats itself.

    .venv/bin/python benchmarks/continuations.py runs/ngram-shakespeare runs/lstm-shakespeare runs/gpt-shakespeare

First the texts for one prompt; then, over many prompts from the models' own validation text, the share of n-grams of
words that stood in the same text before, the end of a line being a word; the share of words that the training text
does not have; and how probable the model finds what it wrote. Both are Markdown.
"""

import argparse
import json
import re
import statistics
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from regard.data.texts.recipe_lines import lines_of_split
from regard.model import load
from regard.verbs.generate.continuing import Generated
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest

SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "beam 4": {"beam": 4},
    "temperature 0.5": {"sample": {"temperature": 0.5}},
    "temperature 1": {"sample": {"temperature": 1.0}},
    "temperature 1.5": {"sample": {"temperature": 1.5}},
    "top-k 5": {"sample": {"top_k": 5}},
    "top-p 0.9": {"sample": {"top_p": 0.9}},
}


@dataclass(frozen=True)
class Continuation:
    """What was written after a prompt, and what it is like."""

    text: str
    log_probability: float  # mean of a token


def words_of(text: str) -> list[str]:
    """What spaces part, and the ends of lines: who writes nothing but empty lines repeats himself too."""
    return re.findall(r"\S+|\n", text)


def invented_share(text: str, known: Collection[str]) -> float:
    """The share of its words, whatever their case, that are not known; the last may be cut off and does not count."""
    words = spelled(text)[:-1]
    return sum(word not in known for word in words) / len(words) if words else 0.0


def spelled(text: str) -> list[str]:
    """Words of letters alone, in lower case."""
    return re.findall(r"[^\W\d_]+", text.lower())


def repeated_share(words: Sequence[str], order: int) -> float:
    """The share of n-grams that occurred before in the same words; nothing where there are none."""
    grams = [tuple(words[start : start + order]) for start in range(len(words) - order + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def write_on(model: LanguageModel, prompts: list[str], search: dict[str, Any], tokens: int) -> list[Continuation]:
    """The best text for each prompt, or the one that was drawn, past the ends of lines."""
    request = GenerateRequest.read({"prompt": prompts, "tokens": tokens, "past_end": True, **search})
    found: Iterator[Generated] = (several[0] for several in model.generate_by(request))
    return [Continuation(each.text[len(each.prompt) :], statistics.mean(each.token_scores)) for each in found]


def prompts_of(model: LanguageModel, count: int) -> list[str]:
    """Who speaks and two words of what is said, from the validation text, evenly spread."""
    lines = [line.text for line in lines_of_split(model.recipe.data, "valid")]
    spoken = [(name, said.split()) for name, said in pairwise(lines) if name.endswith(":")]
    found = [f"{name}\n{' '.join(words[:2])}" for name, words in spoken if len(words) > 2]
    return found[:: max(1, len(found) // count)][:count]


def measures_of(texts: Sequence[str], known: Collection[str], orders: Sequence[int]) -> list[str]:
    """The shares of repeated n-grams, and of invented words, means over texts."""
    repeated = [statistics.mean(repeated_share(words_of(text), order) for text in texts) for order in orders]
    return [f"{share:.1%}" for share in [*repeated, statistics.mean(invented_share(text, known) for text in texts)]]


def text_of(model: LanguageModel, split: str) -> str:
    return "\n".join(line.text for line in lines_of_split(model.recipe.data, split))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--prompt", default="ROMEO:\nI am")
    parser.add_argument("--tokens", type=int, default=220)
    parser.add_argument("--shown", type=int, default=160, help="characters of each text that are shown")
    parser.add_argument("--prompts", type=int, default=32, help="prompts over which is measured")
    parser.add_argument("--orders", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--json", type=Path, help="file for everything that was written")
    asked = parser.parse_args()
    models = {folder.name: load(folder) for folder in asked.models}
    first = next(iter(models.values()))
    assert isinstance(first, LanguageModel)
    prompts = [asked.prompt, *prompts_of(first, asked.prompts)]
    found: dict[str, dict[str, list[Continuation]]] = {}
    for name, model in models.items():
        assert isinstance(model, LanguageModel)
        found[name] = {kind: write_on(model, prompts, own, asked.tokens) for kind, own in SEARCHES.items()}
    for kind in SEARCHES:
        print(f"### {kind}\n")
        for name, by_search in found.items():
            print(f"{name}:\n\n```text\n{asked.prompt}{by_search[kind][0].text[: asked.shown].rstrip()}\n```\n")
    known = set(spelled(text_of(first, "train")))
    columns = [*(f"repeated {order}-grams" for order in asked.orders), "invented words"]
    print(f"| model | search | {' | '.join(columns)} | log p of a token |")
    print(f"| {' | '.join(['---'] * (len(columns) + 3))} |")
    for name, by_search in found.items():
        for kind, texts in by_search.items():
            shares = measures_of([each.text for each in texts[1:]], known, asked.orders)
            likely = statistics.mean(each.log_probability for each in texts[1:])
            print(f"| {name} | {kind} | {' | '.join(shares)} | {likely:.2f} |")
    valid, size = text_of(first, "valid"), asked.tokens
    pieces = [valid[start : start + size] for start in range(0, len(valid) - size, size)]
    print(f"| the validation text itself | – | {' | '.join(measures_of(pieces, known, asked.orders))} | – |")
    if asked.json:
        written = {name: {kind: [each.text for each in own] for kind, own in by.items()} for name, by in found.items()}
        table = {"prompts": prompts, "texts": written}
        asked.json.write_text(json.dumps(table, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
