"""From the start of a process to its first answer: `regard translate` beside CTranslate2 by hand, and `regard train`.

    .venv/bin/python benchmarks/cold_start.py

One line is translated with an exported base Transformer of random weights. By hand means a Python that imports it,
cuts the line at its spaces, translates it in the same way and prints it. Training is timed up to its first step, on a
corpus that is prepared already, beside a Python that only imports torch, for which nobody can do anything.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from table import Contender, Ratio, against, in_turns, run_alone
from translate_cpu import random_model, random_texts

from regard.engines.exported import CTRANSLATE2

ROUNDS = 5

BY_HAND = """
import sys
import ctranslate2
translator = ctranslate2.Translator(sys.argv[1], inter_threads=1, intra_threads=1)
line = open(sys.argv[2], encoding="utf-8").read().split()
found = translator.translate_batch([line], beam_size=4, length_penalty=0.5, max_decoding_length=100)
print(" ".join(found[0].hypotheses[0]))
"""

FIRST_STEP = """
import os, sys

def stop(trainer, batches):
    os._exit(0)

if __name__ == "__main__":
    from regard.cli import main
    from regard.training.trainer import Trainer
    Trainer._update = stop
    sys.exit(main(sys.argv[1:]) or "no step was taken")
"""


def started(*arguments: str) -> Contender:
    """A process from its start to its end, as one piece of work."""

    def run() -> float:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return 1

    return run


IMPORT_TORCH = started("-c", "import torch")


def core_of_children() -> float:
    """Seconds of a core that processes have used which this one started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def translating(folder: Path) -> Iterator[Ratio]:
    model, line = random_model(folder / "model"), folder / "line"
    line.write_text(f"{random_texts(1)[0]}\n", encoding="utf-8")
    contenders = {
        "ours": started("-m", "regard", "translate", str(model), str(line), "--set", "stop=first"),
        "CTranslate2 by hand": started("-c", BY_HAND, str(model / CTRANSLATE2), str(line)),
    }
    rates = in_turns(contenders, ROUNDS, core_of_children)
    yield from against("cold start of translate, base", rates.pop("ours"), rates, "starts")
    by_torch = ("-m", "regard", "translate", str(model), str(line), "--engine", "torch", "--beam", "1")
    contenders = {"ours": started(*by_torch), "import torch alone": IMPORT_TORCH}
    rates = in_turns(contenders, ROUNDS, core_of_children)
    yield from against("cold start of translate by torch, base, greedy", rates.pop("ours"), rates, "starts")


def training(folder: Path) -> Iterator[Ratio]:
    run, prepared, program = folder / "run", folder / "corpus", folder / "first_step.py"
    program.write_text(FIRST_STEP, encoding="utf-8")
    asked = ["train", "demo", "--out", str(run), "--overwrite", "--set", f"data.prepared={prepared}"]
    contenders = {"ours": started(str(program), *asked), "import torch alone": IMPORT_TORCH}
    rates = in_turns(contenders, ROUNDS, core_of_children)  # the round that warms up prepares the corpus
    yield from against("cold start of train, to its first step", rates.pop("ours"), rates, "starts")


def ratios() -> Iterator[Ratio]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as place:
        yield from translating(Path(place))
        yield from training(Path(place))


if __name__ == "__main__":
    run_alone(__doc__, ratios)
