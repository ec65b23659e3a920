"""Prints docs/families.md from the tables: `.venv/bin/python docs/make_families_page.py > docs/families.md`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from regard.base.recipe import read_table
from regard.families import FAMILIES
from regard.families.abilities import verbs_of

ROOT = Path(__file__).parents[1]
RECIPES = ROOT / "regard" / "recipes"

HEAD = """# Families

<!-- Made by docs/make_families_page.py from the table of families and the recipes; change those, not this page. -->

Which models there are, what each can be asked for, and how to train one. `regard families` prints the same table:

```sh
regard families
regard train multi30k-en-de
```

Most recipes read a data set that `regard data get NAME` fetches. Figures come from the heads of the recipes; [the
ledger](ledger.md) has all of them with machines and seeds.
"""

# The page that explains a family, a picture of what it does, and the recipe that shows it best.
SHOWN: dict[str, tuple[str, str, str]] = {
    "transformer": ("train.md", "crossing.png", "multi30k-en-de"),
    "seq2seq": ("recurrent.md", "lines.png", "multi30k-recurrent"),
    "online": ("hard.md", "online-look.png", "cmudict-g2p-online"),
    "online-sounds": ("hard.md", "online-digits.png", "online-digits"),
    "ctc-text": ("spelling.md", "", "cmudict-g2p-ctc"),
    "transducer-text": ("spelling.md", "", "transducer-cmudict"),
    "hred": ("long-memories.md", "turns.png", "dialogue-talks-hred"),
    "gat": ("graphs.md", "graph.png", "gat-cora"),
    "ram": ("glimpses.md", "", "ram-mnist"),
    "convnet": ("glimpses.md", "", "convnet-mnist"),
    "patches": ("patches.md", "rollout.png", "patches-mnist"),
    "captioner": ("captions.md", "caption-shapes.png", "captions-flickr8k"),
    "caption-transformer": ("captions.md", "", "captions-flickr8k-transformer"),
    "draw": ("draw.md", "draw-look.png", "draw-mnist"),
    "painter": ("pictures-from-text.md", "paint-digits.png", "paint-digits"),
    "recurrent": ("long-memories.md", "distances-adding.png", "adding-gru"),
    "decoder": ("long-memories.md", "adding-look.png", "copy-memory-decoder"),
    "ntm": ("machines.md", "ntm-copy.png", "ntm-copy"),
    "dnc": ("machines.md", "", "dnc-recall"),
    "sam": ("machines.md", "sam-copy.png", "sam-copy"),
    "lstm": ("machines.md", "", "lstm-copy"),
    "memory": ("memory.md", "hops.png", "memory-babi"),
    "dmn": ("memory.md", "", "dmn-babi"),
    "ctc": ("transcribe.md", "ctc-alignment.png", "ctc-digits"),
    "transducer": ("transcribe.md", "", "transducer-digits"),
    "bag": ("classify.md", "", "movie-reviews"),
    "averaging": ("classify.md", "", ""),
    "rnn": ("tagging.md", "", "conll2000"),
    "encoder": ("tagging.md", "", "conll2000-encoder"),
    "bert": ("bert.md", "", "bert-english"),
    "rnnlm": ("recurrent-language.md", "gates-lm.png", "lstm-ptb"),
    "gpt": ("gpt.md", "next.png", "gpt-shakespeare"),
    "from-gates": ("gates.md", "five-steps.png", "from-gates-shakespeare"),
    "tacotron": ("speak.md", "speak.png", "speak-digits"),
    "sketchformer": ("strokes.md", "sketch-kanji-complete.png", "sketch-kanji"),
    "sketch-rnn": ("strokes.md", "sketch-sheep.png", "sketch-sheep-rnn"),
    "ngram": ("language.md", "", "ngram-ptb"),
    "bilm": ("contexts.md", "contexts.png", "bilm-en"),
    "word2vec": ("word-vectors.md", "word-map.png", "word2vec-english"),
    "glove": ("word-vectors.md", "", "glove-english"),
    "fasttext": ("word-vectors.md", "", "fasttext-english"),
}


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(line for family in FAMILIES for line in _section(family))])


def _section(name: str) -> Iterator[str]:
    family, (explained, picture, best) = FAMILIES[name], SHOWN[name]
    recipes = _recipes_of(name)
    yield f"## {name}\n"
    yield f"{family.summary[0].upper()}{family.summary[1:]} ({family.paper}). [More]({explained}).\n"
    if picture:
        yield f"![{name}: {family.summary}](pictures/{picture})\n"
    if best:
        yield f"```sh\nregard train {best}\n```\n"
        if expected := _expected(best):
            yield f"{expected}\n"
    verbs = dict.fromkeys(verb for task in family.tasks for verb in verbs_of(name, task))
    yield f"- commands: {', '.join(verbs)}"
    if recipes:
        yield f"- recipes: {', '.join(f'`{recipe}`' for recipe in recipes)}"
    yield ""


def _recipes_of(family: str) -> list[str]:
    """Return the names of a family's recipes, comparisons apart."""
    tables = {path.stem: read_table(path) for path in sorted(RECIPES.glob("*.toml"))}
    return [name for name, table in tables.items() if "compare" not in table and _family_of(table) == family]


def _family_of(table: dict[str, object]) -> object:
    return table.get("family", "transformer")


def _expected(recipe: str) -> str:
    """Return the sentence of a recipe's head that says what to expect of it."""
    lines = (RECIPES / f"{recipe}.toml").read_text(encoding="utf-8").splitlines()
    head = " ".join(line.removeprefix("# ") for line in lines if line.startswith("#"))
    found = re.search(r"Expect:? .+?\.(?= [A-Z`]|$)", head)
    return found[0] if found else ""


if __name__ == "__main__":
    sys.stdout.write(page())
