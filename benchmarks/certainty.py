"""How often a translator is unsure: of texts like those it learnt from, and of texts unlike them.

    .venv/bin/python benchmarks/certainty.py [MODEL] [--unlike NAME …] [--count N]

The threshold is that of the model folder, found on its validation data and on nothing else. Beside the share of outputs
that are marked stands the chance that an output for the model's own test is more certain than one for another text
(the area under the ROC curve; 0.5 is no better than guessing), which no threshold decides. Texts have 3 to 12 words, so
that no length gives them away.
"""

import argparse
import random
from pathlib import Path

import numpy as np

import regard
from regard.base.model_folder import read_recipe
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import file_of, read_pairs
from regard.data.lines import read_lines
from regard.verbs.translate.certainty import certainty_of
from regard.verbs.translate.model import TranslationModel

UNLIKE = ("tatoeba-en-pt:eng-por.test-v2021-08-07.tsv.gz", "multi30k:raw/test_2016_flickr.en.gz")
WORDS = range(3, 13)


def sources(name: str, count: int) -> list[str]:
    """So many texts of a file of lines or of the first column of pairs, drawn once and for all."""
    is_of_lines = name.removesuffix(".gz").endswith((".en", ".txt"))
    lines = list(read_lines(file_of(name))) if is_of_lines else [text for text, _ in read_pairs(Corpus(pairs=name))]
    fitting = sorted({line for line in lines if len(line.split()) in WORDS})
    return random.Random(1).sample(fitting, min(count, len(fitting)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, default=Path("runs/demo"), help="a model folder")
    parser.add_argument("--unlike", nargs="+", default=UNLIKE, metavar="NAME", help="texts that it did not learn from")
    parser.add_argument("--count", type=int, default=300, help="texts of each")
    asked = parser.parse_args()
    model = regard.load(asked.model)
    assert isinstance(model, TranslationModel)
    if model.certainty is None:
        parser.error(f"{asked.model} does not say how sure it is as a rule; train it anew")
    data = read_recipe(asked.model)["data"]
    own = [corpus["pairs"] for split in ("valid", "test") for corpus in data[split] if "pairs" in corpus]
    print(f"{asked.model}: unsure below {model.certainty.threshold} ({model.certainty.measure})")
    like: np.ndarray | None = None
    for name in (*own, *asked.unlike):
        outputs = model.translate(sources(name, asked.count))
        found = np.array([certainty_of(each.token_scores) for each in outputs])
        marked = np.mean([bool(each.unsure) for each in outputs])
        like = found if name in own else like
        apart = "" if name in own or like is None else f"  area {np.mean(like[:, None] > found[None]):.3f}"
        print(f"{marked:6.1%} of {len(found)} marked, mean {found.mean():.3f}{apart}  {name}")


if __name__ == "__main__":
    main()
