"""`regard translate` with a model that writes capitals, which halts where it is told until it may go on.

python pausing_translator.py MOMENT ARGUMENT... says on standard output that the moment has come, and goes on when it
reads a line. The moments: `loading` the model, when the command line was found good; `writing`, when the first portion
is kept; `placing` the whole file; `placed`, before the rest is tidied up; and `never`.
"""

import sys
from pathlib import Path

from regard.cli import main, translate, unfinished
from regard.cli.asked import Asked
from regard.cli.lines import ConstraintsByLine, LineConstraints, Translator
from regard.runs.folder import update_folder
from regard.verbs.translate.outputs import Cutting, Translated

MOMENTS = ("loading", "writing", "placing", "placed")


def write_model(folder: Path) -> Path:
    """All that the command asks of a model's folder before it is loaded."""
    update_folder(folder, {"recipe.toml": b"[decoding]\n"})
    return folder


def run(moment: str, arguments: list[str]) -> int:
    unfinished.PORTION = translate.PORTION = 2
    place = Path.replace

    def come(name: str) -> None:
        if name == moment:
            print(name, flush=True)
            sys.stdin.readline()

    def load(asked: Asked, folder: Path, constraints: ConstraintsByLine) -> Translator:
        come("loading")
        return Translator(1, False, Cutting("en", len, 100), capitals)

    def capitals(lines: list[str], keys: list[int], constraints: LineConstraints) -> list[Translated]:
        if keys[0]:
            come("writing")
        return [Translated(line.upper(), 0.0, [], [], [(line.upper(), 0.0)], list) for line in lines]

    def replace(old: Path, new: Path) -> Path:
        come("placing")
        replaced = place(old, new)
        come("placed")
        return replaced

    Asked.translator = load  # type: ignore[method-assign]
    Path.replace = replace  # type: ignore[assignment, method-assign]
    return main(["translate", *arguments])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
