"""`regard translate` with a model that writes capitals and pauses at a given moment.

python pausing_translator.py MOMENT ARGUMENT... says on standard output that the moment has come, and goes on when it
reads a line. The moments: `loading` the model, when the command line was found good; `writing`, when the first portion
is kept; `placing` the whole file; and `placed`, before the rest is tidied up.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.base.model_folder import update_folder
from regard.cli import main
from regard.engines.translated import Translated
from regard.verbs.translate import line_translator, unfinished
from regard.verbs.translate.line_translator import LongLines, Portion
from regard.verbs.translate.request import TranslateRequest

MOMENTS = ("loading", "writing", "placing", "placed")


def write_model(folder: Path) -> Path:
    """Write everything that the command needs of a model's folder before loading it."""
    update_folder(folder, {"recipe.toml": b"[decoding]\n"})
    return folder


def run(moment: str, arguments: list[str]) -> int:
    unfinished.PORTION = line_translator.PORTION = 2
    place = Path.replace

    def come(name: str) -> None:
        if name == moment:
            print(name, flush=True)
            sys.stdin.readline()

    class Capitals:
        """Translates as the command's own translator of lines does."""

        count, long_lines = 1, LongLines()

        def __init__(self, folder: Path, request: TranslateRequest, precision: str) -> None:
            come("loading")
            self.request = request

        def __call__(self, portions: Iterable[Portion], ahead: bool) -> Iterator[tuple[Portion, list[Translated]]]:
            for portion in portions:
                if portion.first:
                    come("writing")
                capitals = [line.upper() for line in portion.lines]
                yield portion, [Translated(text, 0.0, [], [], [(text, 0.0)], list) for text in capitals]

    def replace(old: Path, new: Path) -> Path:
        come("placing")
        replaced = place(old, new)
        come("placed")
        return replaced

    line_translator.open_translator = Capitals  # type: ignore[assignment]
    Path.replace = replace  # type: ignore[assignment, method-assign]
    return main(["translate", *arguments])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
