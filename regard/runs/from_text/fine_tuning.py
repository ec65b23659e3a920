"""Settings for fine-tuning an existing model on text files, chosen from both."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from regard.base.faults import Fault
from regard.base.model_folder import read_recipe
from regard.base.recipe import Recipe
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import file_of, read_pairs
from regard.families import check_recipe
from regard.runs.from_text.defaults import Amount, TextFiles, measure, pairs_in_words
from regard.tasks.translation.budget import CPU_TOKENS


class Dose(NamedTuple):
    """A way to learn texts of up to `pairs`: passes over them, and the learning rate times the model's width."""

    pairs: float
    passes: int
    rate: float


# The model already knows its languages, and forgets as it learns. Wider models train with smaller steps.
CAUTIOUS = (
    Dose(2_000, 40, 0.1),
    Dose(10_000, 30, 0.1),
    Dose(50_000, 20, 0.1),
    Dose(500_000, 10, 0.1),
    Dose(float("inf"), 4, 0.1),
)
# If the new text is not small next to the old, as in docs/ledger.md#fine-tuning, caution is worse than a new model.
BOLD = (Dose(2_000, 40, 0.1), Dose(10_000, 90, 0.25), Dose(50_000, 60, 0.5), *CAUTIOUS[3:])
SMALL = 40  # old pairs for each new one, from which on the new text is small
FEWEST_BATCHES = 10  # in one pass
SMALLEST_BATCH = 1024  # tokens
HIGHEST_RATE = 5e-4  # of a cautious training
VALIDATIONS = 10


def recipe_from(parent: Path, files: TextFiles, old_share: float, gpu: bool) -> tuple[dict[str, Any], list[str]]:
    """Return a recipe for the files that starts from a model, and sentences that say what was chosen.

    If `old_share` is above zero, that share of the pairs comes from the text the model was trained on.
    """
    start, corpora = check_recipe(read_recipe(parent)), files.corpora()
    amount = measure(pair for corpus in files.training_corpora() for pair in read_pairs(corpus))
    if amount.pairs == 0:
        raise Fault(f"{files.train[0]} is empty; there is nothing to learn from.")
    training = _training(start, replace(amount, pairs=amount.pairs + sum(files.mono.lines())), old_share, gpu)
    source, target = files.named_languages() or (start.data.source_language, start.data.target_language)
    data: dict[str, Any] = {"source_language": source, "target_language": target, **corpora}
    if old_share:
        data |= _mix(files.training_corpora(), parent, start, old_share)
    sentences = [
        f"{pairs_in_words(amount)} of {source} and {target}, starting from {parent}; "
        f"training on {'a GPU' if gpu else 'the CPU'}.",
        "Unless --set changes them: the sizes, tokenisers and dropout of that model,",
        f"{training['steps']:,} steps of at most {training['batch_tokens']:,} tokens,",
        f"at a learning rate of {training['optimizer']['learning_rate']:.0e} that falls to zero.",
    ]
    if old_share:
        sentences.append(f"{old_share:.0%} of the pairs come from the text that it was trained on.")
    sentences[1:1] = files.mono.sentences()
    return {"start_from": str(parent.resolve()), "data": data, "training": training}, sentences


def _training(start: Recipe, amount: Amount, old_share: float, gpu: bool) -> dict[str, Any]:
    """Return the training options: batches small enough for several steps on little text, and a low learning rate."""
    tokens = amount.pairs * amount.tokens
    ample: int = start.model.ample_tokens if gpu else CPU_TOKENS
    batch_tokens = min(ample, max(SMALLEST_BATCH, int(tokens / FEWEST_BATCHES) // 256 * 256))
    doses = BOLD if gpu and _is_much(start, amount.pairs) else CAUTIOUS
    dose = next(dose for dose in doses if amount.pairs <= dose.pairs)
    rate = float(f"{dose.rate / start.model.width:.0e}")
    steps = max(100, int(dose.passes * tokens / (1 - old_share) / batch_tokens) // 10 * 10)
    every = max(1, steps // VALIDATIONS)
    return {
        "steps": steps,
        "batch_tokens": batch_tokens,
        "label_smoothing": start.training.label_smoothing,
        "consistency": start.training.consistency if gpu else 0.0,
        "validate_every": every,
        "save_every": every,
        "best_by": "chrf",
        "optimizer": {
            "learning_rate": min(HIGHEST_RATE, rate) if dose in CAUTIOUS else rate,
            "schedule": "linear",
            "warmup": steps // 20,
        },
    }


def _is_much(start: Recipe, pairs: int) -> bool:
    """Return True if so many new pairs are not small next to those that the model learnt from, which must be here."""
    try:
        old = sum(1 for _ in islice(chain.from_iterable(map(read_pairs, start.data.train)), SMALL * pairs))
    except Fault:  # its text is gone, or it was imported
        return False
    return 0 < old < SMALL * pairs


def _mix(new: Sequence[Corpus], parent: Path, start: Recipe, old_share: float) -> dict[str, Any]:
    """Return new and old corpora by their shares, and the old test set, whose sentences must not be learnt.

    Validation uses the new text alone.
    """
    for name in (name for corpus in start.data.train if not corpus.is_generated for name in corpus.names):
        if not file_of(name).is_file():
            raise Fault(
                f"--old-share takes the text that {parent} was trained on, but there is no file '{name}'; "
                "omit it, or name old and new text in a recipe's data.train."
            )
    old = [corpus | {"held_out": False} for corpus in _weighted(start.data.train, old_share)]
    test = [corpus.model_dump(exclude_none=True) for corpus in start.data.test]
    return {"train": [*_weighted(new, 1 - old_share), *old], "test": test}


def _weighted(corpora: Sequence[Corpus], share: float) -> list[dict[str, Any]]:
    """Return corpora with this total share, split by their weights or numbers of pairs."""
    sizes = [corpus.weight or sum(1 for _ in read_pairs(corpus)) for corpus in corpora]
    weights = [share] if len(corpora) == 1 else [share * size / sum(sizes) for size in sizes]
    return [
        corpus.model_dump(exclude_none=True) | {"weight": weight}
        for corpus, weight in zip(corpora, weights, strict=True)
    ]
