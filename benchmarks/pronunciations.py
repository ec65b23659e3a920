"""How well words are pronounced by one search and another: phoneme and word errors of models of CMUdict.

    .venv/bin/python benchmarks/pronunciations.py runs/cmudict-g2p-joint --ctc 0 0.3 0.5 1
    .venv/bin/python benchmarks/pronunciations.py runs/cmudict-g2p-joint --ctc 0.3 --split test

It goes over all beams, length penalties and shares of CTC that are given and prints one row of a Markdown table for
each. CTC has a say in models that were trained with model.ctc. Choose on the validation set, which is the default, and
with --unseen, which leaves out words of the training data: the validation set has 721 of them, almost all with another
pronunciation, and there a model that remembers less does better.
"""

import argparse
import itertools
from pathlib import Path

from command_line import print_row

import regard
from regard.metrics.errors import exact_matches, word_error_rate
from regard.verbs.translate.evaluation import from_split, mark_learnt
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.run import runner

COLUMNS = ("run", "split", "beam", "length penalty", "CTC", "phoneme errors", "word errors")
PORTION = 1024  # words that are searched for together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--split", choices=("valid", "test"), default="valid")
    parser.add_argument("--beam", type=int, nargs="+", default=[4])
    parser.add_argument("--length-penalty", type=float, nargs="+", default=[0.6])
    parser.add_argument("--ctc", type=float, nargs="+", default=[0.0])
    parser.add_argument("--unseen", action="store_true", help="leave out words of the training data")
    asked = parser.parse_args()
    head: tuple[str, ...] = COLUMNS
    for run in asked.runs:
        model = regard.load(run)
        assert isinstance(model, TranslationModel)
        data = mark_learnt(from_split(model, run, asked.split), model, run)
        for beam, penalty, ctc in itertools.product(asked.beam, asked.length_penalty, asked.ctc):
            run_plan = runner(model, model.plan(beam=beam, length_penalty=penalty, n_best=1, search={"ctc": ctc}))
            parts = (data.sources[first : first + PORTION] for first in range(0, len(data.sources), PORTION))
            outputs = [each.text for part in parts for each in run_plan(whole_texts(part))]
            scored, texts = data.unlearnt(outputs) if asked.unseen else (data, outputs)
            phonemes, right = word_error_rate(texts, scored.references)[0], exact_matches(texts, scored.references)[0]
            chosen = f"{beam}", f"{penalty:g}", f"{ctc:g}"
            cells = [run.name, asked.split, *chosen, f"{phonemes:.2f}", f"{100 - right:.2f}"]
            print_row(cells, head)
            head = ()


if __name__ == "__main__":
    main()
