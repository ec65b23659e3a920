"""A recipe for each family that trains in a second, and the data that it names.

To add a family, add a line to `TOYS`. All promises for every family are then tested on it too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from caption_files import write_captions
from labelled_files import write_labelled
from picture_files import flags, write_set
from small import undrawn, write_corpus
from small_graph import small_recipe
from sound_files import write_tones
from story_files import write_stories
from stroke_files import write_drawings, write_labelled_drawings
from tagged_files import CHUNKS, write_tagged

from regard.promises import toy as promises
from regard.promises.trial import STEPS as TRAINING
from regard.promises.trial import open_toy as open_run_of_toy
from regard.runs.open import Run
from regard.runs.train import train


@dataclass(frozen=True)
class Toy(promises.Toy):
    """Toy on which a family is tested.

    Where a family has several toys, each further toy names the family; so it does its task and what it reads, where
    these are not those of the first.
    """

    family: str | None = None
    task: str | None = None
    reads: str | None = None


def open_toy(name: str, folder: Path, **model: Any) -> Run:
    """Return the run of a toy in this folder, new or resumed; `model` changes its model."""
    return open_run_of_toy(TOYS[name].family or name, TOYS[name], folder, **model)


def open_trained_toy(name: str, folder: Path, **model: Any) -> Run:
    """Return the run of a toy, trained to its end."""
    run = open_toy(name, folder, **model)
    with undrawn():
        train(run, [])
    return run


def _translator(**model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        train, valid = folder / "train", folder / "valid"
        for place, pairs in ((train, 60), (valid, 8)):
            place.mkdir(exist_ok=True)
            write_corpus(place, pairs)
        named = {name: [str(file) for file in sorted((folder / name).iterdir())] for name in ("train", "valid")}
        training = TRAINING | {"batch_tokens": 80, "validation_beam": 0, "optimizer": {"warmup": 2}}
        return {"data": named | {"tokeniser": {"kind": "words"}}, "model": model, "training": training}

    return table


def _dialogues(folder: Path) -> dict[str, Any]:
    """Return a recipe with turns, each after a dash, and replies."""
    dialogues = ["— hi — hello — who", "— a — b", "hm — c", "— ab — ba — abba — bab", "— so"]
    lines = "".join(f"{dialogues[place % 5]} {place}\tyou {place}\n" for place in range(40))
    for name, part in {"train": lines, "valid": "— x — y\tz\n— who\tyou\n"}.items():
        (folder / f"{name}.tsv").write_text(part, encoding="utf-8")
    named = {name: str(folder / f"{name}.tsv") for name in ("train", "valid")}
    training = TRAINING | {"batch_tokens": 80, "validation_beam": 0, "optimizer": {"warmup": 2}}
    return {
        "data": named | {"tokeniser": {"kind": "words"}},
        "model": {"embedding": 8, "width": 8, "cell": "gru", "dropout": 0.2},
        "training": training,
    }


def _pictures(**model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        training = TRAINING | {"batch": 16, "optimizer": {"warmup": 2}}
        data = {"train": write_set(folder, *flags(60)), "hold_out": 12, "scene": {"side": 18, "clutter": 1}}
        return {"data": data, "model": model, "training": training}

    return table


def _black_and_white(folder: Path) -> dict[str, Any]:
    model = {"steps": 2, "width": 6, "latent": 3, "read": 2, "write": 3}
    data = {"train": write_set(folder, *flags(40)), "hold_out": 8, "scene": {"side": 17, "pictures": 2}}
    return {"data": data, "model": model, "training": TRAINING | {"batch": 8, "optimizer": {"warmup": 2}}}


def _captioned_flags(folder: Path) -> dict[str, Any]:
    data = {"pictures": {"train": write_set(folder, *flags(40)), "hold_out": 8}, "names": ["a black flag", "white"]}
    book = {"codes": 4, "code_depth": 2, "halvings": 2, "channels": 2}
    sizes = {"width": 4, "layers": 1, "heads": 2, "feed_forward": 4, "dropout": 0.2}
    return {"data": data, "model": book | sizes, "training": TRAINING | {"batch": 8, "optimizer": {"warmup": 2}}}


def _sequences(job: str, **model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        data: dict[str, Any] = {"job": job, "length": 6, "examples": 24, "valid": 8}
        data |= {"symbols": 3, "remembered": 2} if job == "copy" else {}
        return {"data": data, "model": model, "training": TRAINING | {"batch": 8}}

    return table


def _lines_of_writing(folder: Path) -> dict[str, Any]:
    training = TRAINING | {"batch": 8, "optimizer": {"warmup": 2}}
    lines = {"longest": 2, "train": 40, "measured": 12}
    data = {"train": write_set(folder, *flags(40)), "hold_out": 8, "lines": lines}
    model = {"stack": 2, "width": 8, "layers": 1, "dropout": 0.2}
    return {"task": "handwriting", "data": data, "model": model, "training": training}


def _counted_text(folder: Path) -> dict[str, Any]:
    source, target = write_corpus(folder, 60)
    return {
        "data": {"train": str(source), "valid": str(target), "tokeniser": {"kind": "words"}},
        "model": {"order": 3, "discount_fallback": True},
        "training": {"batch_tokens": 100, "save_every": 2},
    }


def _read_both_ways(folder: Path) -> dict[str, Any]:
    source, target = write_corpus(folder, 60)
    return {
        "data": {"train": str(source), "valid": str(target), "tokeniser": {"kind": "words"}},
        "model": {"embedding": 6, "width": 8, "dropout": 0.2},
        "training": TRAINING | {"batch_tokens": 200, "optimizer": {"warmup": 2}},
    }


BERT = {"layers": 1, "width": 8, "heads": 2, "feed_forward": 12}


def _masked_text(folder: Path) -> dict[str, Any]:
    source, target = write_corpus(folder, 60)
    return {
        "data": {"train": str(source), "valid": str(target), "tokeniser": {"vocabulary": 60}},
        "model": BERT | {"longest": 16},
        "training": TRAINING | {"batch": 4, "span": 12, "optimizer": {"warmup": 2}},
    }


def _labelled_texts(**model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        lines = write_labelled(folder / "texts.txt", 40)
        data = {"train": str(lines), "hold_out": 0.25, "tokeniser": {"kind": "words"}}
        return {"task": "classification", "data": data, "model": model, "training": TRAINING | {"batch": 8}}

    return table


def _read_text(folder: Path) -> dict[str, Any]:
    """Return a recipe that reads a text in parts with a state carried over, and averages weights when validation
    worsens.
    """
    source, target = write_corpus(folder, 60)
    model = {"embedding": 6, "width": 8, "tied": True, "input_dropout": 0.1, "layer_dropout": 0.2, "weight_drop": 0.3}
    optimizer = {"kind": "asgd", "learning_rate": 30.0, "schedule": "constant", "warmup": 0, "average_trigger": 1}
    penalties = {"state_penalty": 0.5, "change_penalty": 0.5}
    text = {"batch": 4, "span": 10, "vary_span": True, "validate_every": 1}
    return {
        "data": {"train": str(source), "valid": str(target), "tokeniser": {"kind": "words"}},
        "model": model | {"output_dropout": 0.2, "embedding_dropout": 0.1},
        "training": TRAINING | penalties | text | {"optimizer": optimizer},
    }


def _looked_back_at_text(**model: Any) -> Callable[[Path], dict[str, Any]]:
    """Return a recipe that reads windows of a text, each from an empty state; windows overlap in evaluation."""
    sizes = {"layers": 1, "width": 8, "heads": 2, "context": 12, "overlap": 3, "dropout": 0.2}

    def table(folder: Path) -> dict[str, Any]:
        source, target = write_corpus(folder, 60)
        return {
            "data": {"train": str(source), "valid": str(target), "tokeniser": {"kind": "words"}},
            "model": sizes | model,
            "training": TRAINING | {"batch": 4, "optimizer": {"warmup": 2}},
        }

    return table


def _words(**model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        source, target = write_corpus(folder, 60)
        return {
            "data": {"train": str(source), "valid": str(target), "tokeniser": {"kind": "words"}},
            "model": {"width": 6, "window": 2, **model},
            "training": {"batch_words": 200, "epochs": 2, "save_every": 2},
        }

    return table


def _tagged_sentences(more: Mapping[str, Any] = MappingProxyType({}), **model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        data = {"train": str(write_tagged(folder / "tagged.txt", 30)), **CHUNKS, **more}
        letters = {"embedding": 4, "width": 6}
        training = TRAINING | {"batch_tokens": 60, "best_by": "f1"}
        return {"task": "tagging", "data": data, "model": {"letters": letters} | model, "training": training}

    return table


SLOTS: Mapping[str, int] = MappingProxyType({"slots": 4, "depth": 3, "width": 4})


def _algorithm(members: int = 1, sizes: Mapping[str, int] = SLOTS, **data: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        few = {"bits": 2, "fewest": 2, "most": 2, "valid": {"items": [2], "examples": 2}}
        training = TRAINING | {"batch": 2, "members": members}
        return {"data": few | data, "model": dict(sizes), "training": training}

    return table


def _stories(training: Mapping[str, Any], **model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        data = {"train": str(write_stories(folder / "stories.txt", 16)), "hold_out": 0.25}
        return {"data": data, "model": model, "training": TRAINING | {"batch": 8, "members": 2, **training}}

    return table


def _spoken_sounds(folder: Path) -> dict[str, Any]:
    tones = {"recordings": str(write_tones(folder / "tones"))}
    strings = {"shortest": 1, "longest": 2, "gap": [0.02, 0.03], "noise": [60.0, 60.0], "train": 16, "measured": 4}
    sizes = {"embedding": 4, "speaker": 2, "width": 6, "prenet": 4, "hidden": 4, "filters": 2, "reach": 1, "postnet": 4}
    return {
        "data": {
            "train": [tones | {"numbers": [0, 1]}],
            "valid": [tones | {"numbers": [2, 2]}],
            "rate": 4000,
            "strings": strings,
            "features": {"window": 16.0, "hop": 8.0, "bands": 6},
        },
        "model": sizes | {"encoder_layers": 1, "postnet_layers": 1, "frames": 4, "dropout": 0.2},
        "training": TRAINING | {"batch": 8, "optimizer": {"warmup": 2}},
    }


def _drawings(coding: Mapping[str, Any] = MappingProxyType({}), **model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        data = {"train": str(write_drawings(folder / "drawings.jsonl", 24)), "hold_out": 0.25, **coding}
        return {"data": data, "model": model, "training": TRAINING | {"batch": 8, "optimizer": {"warmup": 2}}}

    return table


def _named_drawings(folder: Path) -> dict[str, Any]:
    data = {"train": str(write_labelled_drawings(folder / "drawings.jsonl", 24)), "hold_out": 0.25}
    training = TRAINING | {"batch": 8, "distort": 0.1, "optimizer": {"warmup": 2}}
    model = {"width": 8, "layers": 1, "heads": 2, "feed_forward": 8}
    return {"task": "recognition", "data": data, "model": model, "training": training}


FRAMES: Mapping[str, int] = MappingProxyType({"width": 8, "layers": 1})


def _strings_of_tones(sizes: Mapping[str, int] = FRAMES, **model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        named = {"recordings": str(write_tones(folder / "tones", 3))}
        strings = {"longest": 2, "gap": [0.0, 0.05], "train": 12, "measured": 6}
        data = {
            "train": named | {"numbers": [1, 2]},
            "valid": named | {"numbers": [0, 0]},
            "rate": 4000,
            "strings": strings,
            "features": {"bands": 8},
        }
        training = TRAINING | {"batch": 4, "masks": {"count": 1, "bands": 2, "frames": 4}}
        return {"data": data, "model": {"dropout": 0.2, **sizes, **model}, "training": training}

    return table


def _captions(**model: Any) -> Callable[[Path], dict[str, Any]]:
    def table(folder: Path) -> dict[str, Any]:
        training = TRAINING | {"batch": 4, "validation_beam": 0, "best_by": "loss", "optimizer": {"warmup": 2}}
        return {"data": write_captions(folder), "model": model, "training": training}

    return table


def _moving_shapes(folder: Path) -> dict[str, Any]:
    training = TRAINING | {"batch": 4, "validation_beam": 0, "best_by": "loss", "optimizer": {"warmup": 2}}
    shapes = {"train": 3, "valid": 2, "test": 2}
    encoder = {"channels": [2], "kernel": 3, "width": 3, "motion": {"channels": [2]}}
    model = {"embedding": 4, "width": 6, "compared": 4, "dropout": 0.2, "encoder": encoder}
    data = {"features": "own", "side": 8, "frames": 8, "at_least": 1, "shapes": shapes}
    decoding = {"longest_extra": 4}  # every word is drawn over every frame
    return {"data": data, "model": model, "training": training, "decoding": decoding}


TOYS: dict[str, Toy] = {
    "transformer": Toy(
        _translator(encoder_layers=1, decoder_layers=1, width=16, feed_forward=24, heads=2, dropout=0.2)
    ),
    "seq2seq": Toy(_translator(embedding=12, width=16, dropout=0.2)),
    "recurrent decoder with heads": Toy(
        _translator(
            **{"encoder": "transformer", "encoder_heads": 2, "feed_forward": 24, "embedding": 12, "width": 16},
            **{"decoder": "tanh", "projected": True, "heads": 2, "dropout": 0.2},
        ),
        family="seq2seq",
    ),
    "printed cells": Toy(
        _translator(
            **{"decoder": "bahdanau", "cell": "gru-reset-first", "token_in_score": True, "embedding": 12, "width": 16},
            **{"normaliser": "plain", "positive": "exp", "dropout": 0.2},
        ),
        family="seq2seq",
    ),
    "transformer with a recurrent encoder": Toy(
        _translator(
            **{"encoder": "recurrent", "cell": "logistic", "encoder_layers": 1, "decoder_layers": 1, "width": 16},
            **{"feed_forward": 24, "heads": 2, "dropout": 0.2},
        ),
        family="transformer",
    ),
    "transformer with an SSRU decoder": Toy(
        _translator(
            **{"decoder_cell": "ssru", "encoder_layers": 1, "decoder_layers": 1, "width": 16, "dropout": 0.2},
            **{"feed_forward": 24, "heads": 2},
        ),
        family="transformer",
    ),
    "transformer with a GRU decoder": Toy(
        _translator(
            **{"decoder_cell": "gru", "encoder_layers": 1, "decoder_layers": 1, "width": 16, "dropout": 0.2},
            **{"feed_forward": 24, "heads": 2},
        ),
        family="transformer",
    ),
    "online": Toy(_translator(embedding=12, width=16, dropout=0.2, samples=2), draws=True),
    "ctc-text": Toy(_translator(layers=1, width=16, frames=3, dropout=0.2)),
    "transducer-text": Toy(_translator(layers=1, width=16, predictor_width=12, joint_width=10, dropout=0.2)),
    "hred": Toy(_dialogues),
    "gat": Toy(lambda folder: small_recipe(folder / "graph", members=2, **TRAINING)),
    "ram": Toy(_pictures(glimpses=2, patch=4, glimpse_width=8, width=8, paths=2), draws=True),
    "convnet": Toy(_pictures(channels=[2, 3], width=4, dropout=0.2)),
    "patches": Toy(_pictures(patch=6, width=4, layers=1, heads=2, feed_forward=4, dropout=0.2)),
    "captioner": Toy(_captions(embedding=4, width=6, compared=4, dropout=0.2, evenness=0.5)),
    "hard captioner": Toy(
        _captions(attention="hard", embedding=4, width=6, compared=4, samples=2), draws=True, family="captioner"
    ),
    "video captioner": Toy(_moving_shapes, family="captioner", reads="video"),
    "caption-transformer": Toy(
        _captions(encoder_layers=1, decoder_layers=1, width=8, heads=2, feed_forward=8, dropout=0.2)
    ),
    "draw": Toy(_black_and_white, draws=True),
    "painter": Toy(_captioned_flags),
    "recurrent": Toy(_sequences("copy", cell="clockwork", width=6, periods=[1, 2, 4])),
    "decoder": Toy(_sequences("adding", width=8, layers=1, heads=2, feed_forward=8, dropout=0.2)),
    "ntm": Toy(_algorithm(members=2, algorithm="copy")),
    "dnc": Toy(_algorithm(algorithm="repeat-copy", most_repeats=2)),
    "sam": Toy(_algorithm(algorithm="recall", item_length=1)),
    "lstm": Toy(_algorithm(sizes={"layers": 2, "width": 4}, algorithm="sort")),
    "memory": Toy(_stories({"linear_start": 2, "linear_patience": 1, "empty_memories": 0.5}, hops=2, width=4)),
    "dmn": Toy(_stories({"optimizer": {"kind": "adam"}, "supervise_hops": 0.1}, episodes=2, width=4)),
    "ctc": Toy(_strings_of_tones()),
    "online-sounds": Toy(
        _strings_of_tones({"width": 8, "embedding": 3, "stack": 6}, samples=2, delay=0.01, entropy_falls=5), draws=True
    ),
    "transducer": Toy(
        _strings_of_tones({"width": 8, "layers": 1, "embedding": 3, "predictor_width": 6, "joint_width": 7})
    ),
    "transducer one way": Toy(
        _strings_of_tones({"width": 8, "layers": 1, "embedding": 3, "predictor_width": 6}, bidirectional=False),
        family="transducer",
    ),
    "handwriting": Toy(_lines_of_writing, family="ctc", task="handwriting"),
    "ctc transformer": Toy(_strings_of_tones(encoder="transformer", heads=2, feed_forward=12), family="ctc"),
    "bag": Toy(_labelled_texts(naive_bayes=True)),
    "averaging": Toy(_labelled_texts(inputs={"width": 6, "word_dropout": 0.2}, layers=1, width=5)),
    "rnn": Toy(_labelled_texts(inputs={"width": 6}, width=8, dropout=0.2)),
    "encoder": Toy(_labelled_texts(inputs={"width": 6}, width=8, heads=2, feed_forward=12, pooling="attention")),
    "bert": Toy(_masked_text),
    "rnnlm": Toy(_read_text),
    "gpt": Toy(_looked_back_at_text()),
    "from-gates": Toy(_looked_back_at_text()),
    "gates alone": Toy(_looked_back_at_text(step=0), family="from-gates"),
    "free weights": Toy(_looked_back_at_text(step=1), family="from-gates"),
    "free candidates": Toy(_looked_back_at_text(step=2), family="from-gates"),
    "tagging rnn": Toy(_tagged_sentences(inputs={"width": 6}, width=8, output="crf"), family="rnn", task="tagging"),
    "tagging encoder": Toy(
        _tagged_sentences(inputs={"width": 6}, width=8, heads=2, feed_forward=12, previous_label=True),
        family="encoder",
        task="tagging",
    ),
    "classes bert": Toy(_labelled_texts(**BERT, longest=7, too_long="ends"), family="bert", task="classification"),
    "tagging bert": Toy(
        _tagged_sentences({"tokeniser": {"kind": "wordpiece", "vocabulary": 60}}, **BERT), family="bert", task="tagging"
    ),
    "tacotron": Toy(_spoken_sounds),
    "sketchformer": Toy(_drawings(width=8, layers=1, heads=2, feed_forward=8, gaussians=2, latent=2)),
    "sketch-rnn": Toy(_drawings({"coding": "grid", "cells": 8}, width=8, hidden=6)),
    "recognition": Toy(_named_drawings, family="sketchformer", task="recognition"),
    "ngram": Toy(_counted_text),
    "bilm": Toy(_read_both_ways),
    "word2vec": Toy(_words()),
    "glove": Toy(_words()),
    "fasttext": Toy(_words(buckets=50)),
}


def _first_of_each_task() -> set[str]:
    """Return the first toy of each family, task and kind of input. The verbs of further toys take the same paths."""
    first: dict[tuple[str, str | None, str | None], str] = {}
    for name, toy in TOYS.items():
        first.setdefault((toy.family or name, toy.task, toy.reads), name)
    return {*first.values()}


# Every toy, for tests of what depends on family, task and kind of input alone: further toys take part in long runs.
EACH_TASK = [pytest.param(name, marks=[] if name in _first_of_each_task() else pytest.mark.long) for name in TOYS]
