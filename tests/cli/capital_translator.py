"""`regard translate` with a model that writes capitals, in portions of two lines, for tests of everything around it.

python capital_translator.py ARGUMENT... runs a command line, by this model in its worker processes too. A line `die`
kills whoever translates it, `die once` the first who does, and `end the job` who gave it to that one. At `stop once`
and `hang once` the first who translates it stops, or waits for nothing. LOOK is how often the job looks for life.
"""

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.base.model_folder import update_folder
from regard.cli import main
from regard.engines.translated import Translated
from regard.verbs.translate import line_translator, unfinished
from regard.verbs.translate.bulk import workers
from regard.verbs.translate.line_translator import LongLines, Portion
from regard.verbs.translate.request import TranslateRequest


def write_model(folder: Path) -> Path:
    """Write everything that the command needs of a model's folder before loading it."""
    update_folder(folder, {"recipe.toml": b"[decoding]\n"})
    return folder


class Capitals:
    """Translates as the command's own translator of lines does."""

    count = 1

    def __init__(self, folder: Path, request: TranslateRequest, precision: str) -> None:
        self.request, self.folder, self.long_lines = request, folder, LongLines(3)

    def __call__(self, portions: Iterable[Portion], ahead: bool) -> Iterator[tuple[Portion, list[Translated]]]:
        for portion in portions:
            self.long_lines = self.long_lines.with_more(
                [portion.first + number for number, line in enumerate(portion.lines) if line.startswith("long")]
            )
            yield portion, [self._write(line) for line in portion.lines]

    def _write(self, line: str) -> Translated:
        mark = self.folder / "died"
        if line == "end the job" and not mark.exists():
            mark.touch()
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()  # until that one's death ends this one too
        if line == "die" or (line == "die once" and not mark.exists()):
            mark.touch()
            print("something is wrong", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if line in ("stop once", "hang once") and not (mark := self.folder / line).exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGSTOP) if line == "stop once" else signal.pause()
        return Translated(line.upper(), 0.0, [], [], [(line.upper(), 0.0)], list)


if __name__ in ("__main__", "__mp_main__"):  # the second in workers
    unfinished.PORTION = line_translator.PORTION = 2
    line_translator.open_translator = Capitals  # type: ignore[assignment]
    workers.LOOK = float(os.environ.get("LOOK", workers.LOOK))

if __name__ == "__main__":
    sys.exit(main(["translate", *sys.argv[1:]]))
