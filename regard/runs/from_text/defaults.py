"""Defaults for training on text files alone, chosen from their size and the hardware."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.catalogue.unpack import bare
from regard.data.corpora.alphabets import DISTINCT, Alphabet
from regard.data.corpora.languages import find_language, two_languages
from regard.data.corpora.memories import is_memory, usual_languages
from regard.data.corpora.options import Corpus, PairData
from regard.data.corpora.text import read_pairs
from regard.models.transformer.options import TransformerOptions
from regard.runs.from_text.expectations import expectation
from regard.runs.mono.asked import AskedTexts
from regard.tasks.translation.budget import CPU_TOKENS


@dataclass(frozen=True)
class Scale:
    """Settings for corpora up to `pairs`: a preset for each kind of hardware, and how to train it.

    A GPU has time to pass every batch through the model twice (R-Drop, weighted by `consistency`) and to read the data
    more often, which helps most when there is little of it.
    """

    pairs: float
    cpu_preset: str
    gpu_preset: str
    vocabulary: int
    dropout: float
    cpu_passes: int  # most passes over the data
    gpu_passes: int
    consistency: float


# Small corpora overfit: they get small models, strong dropout and small vocabularies, and are read often.
SCALES = (
    Scale(3_000, "tiny", "tiny", 1_000, 0.3, 180, 460, 5),
    Scale(15_000, "tiny", "small", 3_000, 0.3, 150, 300, 5),
    Scale(80_000, "tiny", "small", 8_000, 0.3, 90, 170, 5),
    Scale(500_000, "small", "iwslt", 16_000, 0.3, 40, 40, 5),
    Scale(2_000_000, "small", "base", 24_000, 0.1, 25, 25, 0),
    Scale(float("inf"), "base", "base", 32_000, 0.1, 15, 15, 0),
)


@dataclass(frozen=True)
class Symbols:
    """Settings for spelled-out text, which unlike sentences repeats itself and is read very often."""

    cpu_preset: str
    gpu_preset: str
    dropout: float
    learning_rate: float
    cpu_passes: int
    gpu_passes: int  # at most, and no more tokens in total than
    most_tokens: int


SPELLED = Symbols("tiny", "small", 0.2, 1e-3, 30, 300, 120_000_000)
UNITS = {"symbol": "unigram", "character": "characters"}  # unit that a side is spelled in -> its tokeniser
BYTES_AND_MORE = 340  # tokens besides the symbols: 256 bytes, special tokens, and some symbols not seen
PATIENCE = 8  # validations
LOOKED_AT = 16  # one pair in this many is measured
NARROW, WIDE = 4.5, 1.5  # characters per token: in most scripts, and in Chinese, Japanese and Korean


@dataclass(frozen=True)
class Amount:
    """Amount of training data: pairs, tokens of the longer side, and the unit of each side."""

    pairs: int
    tokens: float
    source: Alphabet
    target: Alphabet

    @property
    def is_spelled(self) -> bool:
        """True if both sides are spelled out in a few symbols."""
        return None not in (self.source.unit, self.target.unit)


@dataclass(frozen=True)
class TextFiles:
    """The files and languages given on a command line; a split is a source and its target, or one file of pairs.

    More files of pairs follow the first; `columns` and `header` say how to read files of pairs.
    """

    train: tuple[Path, ...]
    valid: tuple[Path, ...] = ()
    languages: str | None = None
    further_train: tuple[Path, ...] = ()
    further_valid: tuple[Path, ...] = ()
    columns: str | None = None
    header: bool | None = None
    mono: AskedTexts = field(default_factory=AskedTexts)

    def corpora(self) -> dict[str, Any]:
        """Return the training files and, if given, the validation files, by absolute paths."""
        splits = {"train": (self.train, self.further_train), "valid": (self.valid, self.further_valid)}
        files: dict[str, Any] = {}
        for split, (paths, further) in splits.items():
            corpora = [
                self._corpus(paths_of_corpus)
                for paths_of_corpus in (paths, *((path,) for path in further))
                if paths_of_corpus
            ]
            if corpora:
                files[split] = corpora if further else corpora[0]
        if self.mono:
            files["mono"] = self.mono.table()
        return files

    def training_corpora(self) -> list[Corpus]:
        """Return the corpora to learn from, checked."""
        return check(PairData, {"train": self.corpora()["train"]}).train

    def _corpus(self, paths: tuple[Path, ...]) -> dict[str, Any]:
        """Return the files in the form that a recipe has."""
        names = [str(path.resolve()) for path in paths]
        if len(names) == 2:
            return {"source": names[0], "target": names[1]}
        columns = self.columns or (list(self._memory_languages) if is_memory(names[0]) else None)
        read_as = {"columns": columns, "header": self.header}
        return {"pairs": names[0]} | {name: value for name, value in read_as.items() if value is not None}

    def check(self) -> None:
        """Refuse files that cannot be right."""
        if len({path.resolve() for path in self.train}) < len(self.train):
            raise Fault(f"--source and --target are the same file, {self.train[0]}.")
        if len({path.resolve() for path in (*self.train, *self.further_train)}) < len(self.train + self.further_train):
            raise Fault("--pairs names the same file twice.")
        for path in (*self.train, *self.further_train, *self.valid, *self.further_valid):
            if path.is_fifo():
                raise Fault(f"{path} is a pipe, but training reads its text more than once; write it to a file first.")

    def named_languages(self) -> tuple[str, str] | None:
        """Return the languages as given, those of a translation memory, or the suffixes of two files."""
        if self.languages is not None:
            return two_languages(self.languages)
        if self.columns is None and is_memory(self.train[0].name):
            return self._memory_languages
        codes = [_suffix(path) for path in self.train]
        return (codes[0], codes[1]) if len(codes) == 2 and all(codes) and codes[0] != codes[1] else None

    @cached_property
    def _memory_languages(self) -> tuple[str, str]:
        """Source and target of translation memories: as given, or those of the first file."""
        if self.languages is not None:
            return two_languages(self.languages)
        if not is_memory(self.train[0].name):
            raise Fault("A translation memory next to other files needs the languages: give --languages, as in en-pt.")
        return usual_languages(str(self.train[0]), self.train[0])

    def pair_of_languages(self) -> tuple[str, str]:
        """Return the named languages, or those detected in the text; src and tgt if none is detected."""
        return self.named_languages() or self._found_languages

    @cached_property
    def _found_languages(self) -> tuple[str, str]:
        """Languages of the first lines; spelled-out text has none."""
        sides = Alphabet(), Alphabet()
        pairs = chain.from_iterable(map(read_pairs, self.training_corpora()))
        for pair in islice(pairs, DISTINCT):
            for side, line in zip(sides, pair, strict=True):
                side.add(line)
        spelled = [side.unit for side in sides]
        is_language = [unit != "symbol" and None in spelled for unit in spelled]
        languages = [
            find_language(side.seen) if is_named else None for side, is_named in zip(sides, is_language, strict=True)
        ]
        return languages[0] or "src", languages[1] or "tgt"


def _suffix(path: Path) -> str:
    """Return the language in a name such as train.en or train.pt.gz, or an empty string."""
    code = Path(bare(path.name)).suffix.removeprefix(".")
    looks_right = 2 <= len(code) <= 3 and code.isalpha() and code.islower() and code not in ("txt", "tsv")
    return code if looks_right else ""


def recipe_for(files: TextFiles, gpu: bool) -> tuple[dict[str, Any], list[str]]:
    """Return a recipe for the files as a table, and sentences: first what was found in them, then what was chosen."""
    files.check()
    source, target = files.pair_of_languages()
    corpora = files.corpora()
    amount = measure(pair for corpus in files.training_corpora() for pair in read_pairs(corpus))
    if amount.pairs == 0:
        raise Fault(f"{files.train[0]} is empty; there is nothing to learn from.")
    with_mono = replace(amount, pairs=amount.pairs + sum(files.mono.lines()))
    table, choices = (_for_symbols if amount.is_spelled else _for_language)(with_mono, gpu)
    table["family"] = "transformer"
    table["data"] = {"source_language": source, "target_language": target, **table["data"], **corpora}
    heading = f"{pairs_in_words(amount)} of {source} and {target}; training on {'a GPU' if gpu else 'the CPU'}."
    origin = "" if files.named_languages() else _how_found(source, target)
    seen = (
        heading,
        origin,
        _spelling(amount) if amount.is_spelled else "",
        expectation(amount.pairs, amount.is_spelled),
        *files.mono.sentences(),
    )
    return table, ["\n".join(filter(None, seen)), *choices]


def _how_found(source: str, target: str) -> str:
    """Return a sentence that says where unnamed languages come from, and how to name them."""
    if (source, target) == ("src", "tgt"):
        return "The languages could not be detected from the text; name them with --languages, as in --languages en-pt."
    return f"The languages were detected from the text; if they are not {source} and {target}, give --languages."


def _for_language(amount: Amount, gpu: bool) -> tuple[dict[str, Any], list[str]]:
    """Return model, training and tokeniser options for sentences of languages, and sentences about them."""
    scale = next(scale for scale in SCALES if amount.pairs <= scale.pairs)
    preset = scale.gpu_preset if gpu else scale.cpu_preset
    training = _training(scale, amount, _batch_tokens(preset, gpu), gpu)
    training["optimizer"] |= {"learning_rate": 1e-3 if preset in ("iwslt", "base") else 2e-3}
    table = {
        "data": {"tokeniser": {"vocabulary": scale.vocabulary}},
        "model": {"preset": preset, "norm": "before", "dropout": scale.dropout},
        "training": training,
    }
    return table, [
        f"Unless --set changes them: preset {preset}, dropout {scale.dropout},",
        f"up to {scale.vocabulary:,} tokens shared by both languages,",
        _describe_training(training),
    ]


def _for_symbols(amount: Amount, gpu: bool) -> tuple[dict[str, Any], list[str]]:
    """Return the recipe for spelled-out text, and sentences about it: a token per symbol, many steps, a small model."""
    source, target = amount.source, amount.target
    preset = SPELLED.gpu_preset if gpu else SPELLED.cpu_preset
    batch = _batch_tokens(preset, gpu)
    epoch = amount.pairs * (max(source.length, target.length) + 1)
    learnt = min(SPELLED.most_tokens, SPELLED.gpu_passes * epoch) if gpu else SPELLED.cpu_passes * epoch
    steps = max(500, int(learnt) // batch // 100 * 100)
    table = {
        # Short outputs recur, as words that sound alike do; that is not leakage.
        "data": {"tokeniser": _tokeniser(source, target), "cleaning": {"leakage": False}},
        "model": {"preset": preset, "norm": "before", "dropout": SPELLED.dropout},
        "training": {
            "steps": steps,
            "best_by": "exact",
            **_averaging(steps),
            "optimizer": {
                "learning_rate": SPELLED.learning_rate,
                "schedule": "cosine",
                "warmup": min(1000, steps // 10),
            },
        },
    }
    return table, [
        f"Unless --set changes them: symbols as tokens, preset {preset}, dropout {SPELLED.dropout},",
        f"{steps:,} steps, and the average of the last checkpoints.",
    ]


def _spelling(amount: Amount) -> str:
    source, target = amount.source, amount.target
    return (
        f"Both sides are spelled out, with {len(source.units)} and {len(target.units)} symbols, "
        f"about {source.length:.0f} and {target.length:.0f} of them per line."
    )


def _tokeniser(source: Alphabet, target: Alphabet) -> dict[str, Any]:
    """Return options that make each symbol a token: pieces never cross a space, and the vocabulary fits every symbol.

    Words would not do as tokens, because they lose the spaces around punctuation. A symbol of both letters and digits,
    such as AH0, becomes one piece of each.
    """
    symbols = source.units | target.units
    kinds = [UNITS[side.unit] for side in (source, target) if side.unit]
    room = BYTES_AND_MORE + len(symbols | source.characters | target.characters)
    # Two sides with one alphabet share it, which makes copying a symbol easy to learn.
    if kinds[0] == kinds[1] and len(source.units & target.units) >= 0.8 * len(symbols):
        return {"kind": kinds[0], "vocabulary": room}
    return {"kind": kinds[0], "target_kind": kinds[1], "shared": False, "vocabulary": room}


def _batch_tokens(preset: str, gpu: bool) -> int:
    return check(TransformerOptions, {"preset": preset}).ample_tokens if gpu else CPU_TOKENS


def pairs_in_words(amount: Amount) -> str:
    """Describe the number of pairs."""
    return "1 pair" if amount.pairs == 1 else f"{amount.pairs:,} pairs"


def measure(pairs: Iterable[tuple[str, str]]) -> Amount:
    """Measure the amount of text in these pairs."""
    count, measured, tokens, alphabets = 0, 0, 0.0, (Alphabet(), Alphabet())
    for pair in pairs:
        if count % LOOKED_AT == 0:
            measured += 1
            tokens += max(map(_tokens, pair))
        for alphabet, line in zip(alphabets, pair, strict=True):
            if count % LOOKED_AT == 0 or alphabet.lines < DISTINCT:  # all lines of a small file are used
                alphabet.add(line)
        count += 1
    return Amount(count, tokens / max(measured, 1), *alphabets)


def _tokens(text: str) -> float:
    """Estimate how many tokens a text will have, including its end."""
    wide = 0 if text.isascii() else sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return 1 + wide / WIDE + (len(text) - wide) / NARROW


def _training(scale: Scale, amount: Amount, batch_tokens: int, gpu: bool) -> dict[str, Any]:
    """Return the training options: how long to train, and when to stop early."""
    passes = scale.gpu_passes if gpu else scale.cpu_passes
    steps = max(500, int(passes * amount.pairs * amount.tokens) // batch_tokens // 100 * 100)
    common = {"steps": steps, "best_by": "chrf"}
    optimizer: dict[str, Any] = {"warmup": min(1000, steps // 10)}
    if gpu and scale.consistency:
        optimizer |= {"schedule": "cosine"}
        return common | _averaging(steps) | {"consistency": scale.consistency, "optimizer": optimizer}
    every = max(100, min(2000, steps // 20 // 100 * 100))
    return common | {"validate_every": every, "save_every": every, "patience": PATIENCE, "optimizer": optimizer}


def _averaging(steps: int) -> dict[str, Any]:
    """Return options that average the last checkpoints, since a known number of steps ends at learning rate zero."""
    return {
        "validate_every": max(100, steps // 10),
        "save_every": max(10, steps // 80),
        "keep": 10,
        "final": "average",
    }


def _describe_training(training: dict[str, Any]) -> str:
    if "consistency" in training:
        return (
            f"{training['steps']:,} steps with every batch passed twice with different dropout, "
            "and the average of the last checkpoints."
        )
    return f"at most {training['steps']:,} steps, stopping after {PATIENCE} validations without a better chrF."
