"""How well spelled-out text is learnt by default: `regard train` on two files of symbols, then exactness on the test.

    .venv/bin/python benchmarks/spelled.py --out runs/spelled
    .venv/bin/python benchmarks/spelled.py --out runs/spelled-b --set model.dropout=0.1

The data are the words of CMUdict, letters apart, and their phonemes, apart too (`regard data get cmudict-g2p`), by the
split that comes with them. A word with several pronunciations is scored once, against the nearest, as in the
literature. It prints one row of a Markdown table: exact is the share of words that are right, and wer, of phonemes, is
the phoneme error rate. Several can run side by side on one GPU.
"""

import argparse
import gzip
from collections import defaultdict
from pathlib import Path

from command_line import HERE, CommandLine, print_row, settings, steps_taken, valid_score

from regard.data.catalogue.entries import data_folder

SPLITS = {"train": "train-dev-20-21", "valid": "train-dev-1-21", "test": "test"}
COLUMNS = ("settings", "chosen", "steps", "minutes", "valid exact", "test exact", "test phoneme errors")


def spelled(path: Path) -> dict[str, list[str]]:
    """Each word with its letters apart, and its pronunciations."""
    found: dict[str, list[str]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            word, _, phonemes = line.rstrip("\n").partition("  ")
            found[" ".join(word)].append(phonemes)
    return found


def cut(data: Path, folder: Path) -> None:
    """Two files for each split; the test has one more file of references for each further pronunciation."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, name in SPLITS.items():
        words = spelled(data / f"cmudict-0.7b.{name}.gz")
        if split == "test":
            most = max(map(len, words.values()))
            _write(folder / "test.letters", list(words))
            for number in range(most):
                # A word without so many repeats its last, which changes nothing.
                _write(
                    folder / f"test.{number}.phonemes", [each[min(number, len(each) - 1)] for each in words.values()]
                )
        else:
            pairs = [(word, phonemes) for word, several in words.items() for phonemes in several]
            _write(folder / f"{split}.letters", [word for word, _ in pairs])
            _write(folder / f"{split}.phonemes", [phonemes for _, phonemes in pairs])


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, default=HERE, help="a checkout of another version")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="folder for the text and the run")
    parser.add_argument("--data", type=Path, help="folder of cmudict-g2p")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="as of regard train")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as of regard train")
    parser.add_argument("--header", action="store_true", help="print the head of the table first")
    asked = parser.parse_args()
    text, run = asked.out / "text", asked.out / "run"
    cut(asked.data or data_folder() / "cmudict-g2p", text)
    regard = CommandLine(asked.checkout, asked.threads)
    limit = ["--minutes", f"{asked.minutes:g}"] if asked.minutes is not None else []
    _, said, seconds = regard.run(
        "train", "--source", str(text / "train.letters"), "--target", str(text / "train.phonemes"),
        "--valid-source", str(text / "valid.letters"), "--valid-target", str(text / "valid.phonemes"),
        "--out", str(run), "--overwrite", "--seed", str(asked.seed), *limit, *settings(asked.set),
    )  # fmt: skip
    (asked.out / "log.txt").write_text(said, encoding="utf-8")
    references = sorted(text.glob("test.*.phonemes"))
    scores = regard.scores(run, text / "test.letters", references, "exact", "wer")
    chosen = [line for line in said.splitlines() if line.startswith(("So, where", "Planned for"))]
    cells = [
        " ".join(asked.set) or "–", " ".join(chosen) or "–", f"{steps_taken(run):,}", f"{seconds / 60:.1f}",
        f"{valid_score(run, 'exact'):.2f}", f"{scores['exact']:.2f}", f"{scores['wer']:.2f}",
    ]  # fmt: skip
    print_row(cells, COLUMNS if asked.header else ())


if __name__ == "__main__":
    main()
