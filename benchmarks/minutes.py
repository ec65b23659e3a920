"""How good a translator is after so many minutes: `regard train --minutes` on two files, then its score on the test.

    .venv/bin/python benchmarks/minutes.py --pairs 5000 --minutes 4 --threads 2 --out runs/a
    taskset -c 0,1 .venv/bin/python benchmarks/minutes.py --pairs 29000 --minutes 15 --out runs/b --set model.dropout=.2

The data are the first pairs of multi30k, English to German, raw (`regard data get multi30k`). It prints one row of a
Markdown table. `--checkout` runs another version of regard, to measure before and after; `--set` tries another plan.
On a machine with many cores several can run side by side, each pinned to cores of its own.
"""

import argparse
import gzip
from itertools import islice
from pathlib import Path

from command_line import HERE, CommandLine, print_row, settings, steps_taken, valid_score

from regard.data.catalogue.entries import data_folder

COLUMNS = ("pairs", "minutes", "settings", "planned", "steps", "seconds", "valid chrF", "test BLEU", "test chrF")


def cut(data: Path, folder: Path, pairs: int) -> dict[str, Path]:
    """The first pairs to train on, and all those to validate and test with, as plain files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for split, count in (("train", pairs), ("val", None), ("test_2016_flickr", None)):
        for language in ("en", "de"):
            files[f"{split}.{language}"] = path = folder / f"{split}.{language}"
            with gzip.open(data / f"{split}.{language}.gz", "rt", encoding="utf-8") as lines:
                path.write_text("".join(islice(lines, count)), encoding="utf-8")
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--checkout", type=Path, default=HERE, help="a checkout of another version")
    parser.add_argument("--out", type=Path, required=True, help="folder for the text and the run")
    parser.add_argument("--data", type=Path, help="folder of multi30k's raw files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as of regard train")
    parser.add_argument("--header", action="store_true", help="print the head of the table first")
    asked = parser.parse_args()
    files = cut(asked.data or data_folder() / "multi30k" / "raw", asked.out / "text", asked.pairs)
    run, regard = asked.out / "run", CommandLine(asked.checkout, asked.threads)
    _, said, seconds = regard.run(
        "train", "--source", str(files["train.en"]), "--target", str(files["train.de"]),
        "--valid-source", str(files["val.en"]), "--valid-target", str(files["val.de"]),
        "--out", str(run), "--overwrite", "--minutes", f"{asked.minutes:g}", "--seed", str(asked.seed),
        *settings(asked.set),
    )  # fmt: skip
    (asked.out / "log.txt").write_text(said, encoding="utf-8")
    planned = [line for line in said.splitlines() if line.startswith(("Planned for", "The model has", "The steps fit"))]
    scores = regard.scores(run, files["test_2016_flickr.en"], [files["test_2016_flickr.de"]], "bleu", "chrf")
    cells = [
        f"{asked.pairs:,}", f"{asked.minutes:g}", " ".join(asked.set) or "–", " ".join(planned) or "–",
        f"{steps_taken(run):,}", f"{seconds:.0f}", f"{valid_score(run, 'chrf'):.2f}",
        f"{scores['bleu']:.2f}", f"{scores['chrf']:.2f}",
    ]  # fmt: skip
    print_row(cells, COLUMNS if asked.header else ())


if __name__ == "__main__":
    main()
