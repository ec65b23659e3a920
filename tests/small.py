"""A translator that trains in a second or two, for tests of everything around it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from regard.data.demo.corpus import pairs

SETTINGS = {
    "model.encoder_layers": 1,
    "model.decoder_layers": 2,
    "model.width": 16,
    "model.feed_forward": 32,
    "model.heads": 2,
    "data.tokeniser.vocabulary": 400,
    "training.steps": 12,
    "training.batch_tokens": 256,
    "training.validate_every": 6,
    "training.save_every": 4,
    "training.optimizer.learning_rate": 0.01,
    "training.optimizer.warmup": 4,
    "decoding.longest_ratio": 0.5,  # after this few steps, no output ends by itself
    "decoding.longest_extra": 8,
}


def write_corpus(folder: Path, count: int = 300) -> tuple[Path, Path]:
    """Write two parallel files of generated sentences."""
    source, target = folder / "small.en", folder / "small.pt"
    chosen = pairs("train", count=count)
    source.write_text("".join(f"{english}\n" for english, _ in chosen), encoding="utf-8")
    target.write_text("".join(f"{portuguese}\n" for _, portuguese in chosen), encoding="utf-8")
    return source, target


def train_arguments(source: Path, target: Path, out: Path, **more: object) -> list[str]:
    """Return the command line that trains the small translator; `more` changes settings, with __ for dots."""
    settings = SETTINGS | {name.replace("__", "."): value for name, value in more.items()}
    changes = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return ["train", "--source", str(source), "--target", str(target), "--out", str(out), *changes]


def write_recurrent_recipe(folder: Path, **model: object) -> Path:
    """Write a recipe for a recurrent translator of the same size with these model options."""
    import tomli_w

    source, target = write_corpus(folder)
    recipe = {
        "family": "seq2seq",
        "data": {"train": [str(source), str(target)], "tokeniser": {"vocabulary": 400}},
        "model": {"embedding": 12, "width": 16, **model},
        "training": {
            "steps": 8,
            "batch_tokens": 256,
            "validate_every": 8,
            "validation_beam": 0,
            "best_by": "loss",
            "save_every": 4,
            "optimizer": {"warmup": 4},
        },
        "decoding": {"longest_ratio": 0.5, "longest_extra": 8},
    }
    path = folder / "recurrent.toml"
    path.write_text(tomli_w.dumps(recipe), encoding="utf-8")
    return path


def turn_around(run: Path, back: Path) -> Path:
    """Copy a translator and declare the opposite direction. Its outputs are odd, but its arithmetic is unchanged."""
    shutil.copytree(run, back)
    recipe = (back / "recipe.toml").read_bytes()
    swapped = recipe.replace(b'source_language = "en"', b'source_language = "pt"')
    swapped = swapped.replace(b'target_language = "pt"', b'target_language = "en"')
    (back / "recipe.toml").write_bytes(swapped)
    manifest = (back / "manifest.json").read_text(encoding="utf-8")
    checksums = (sha256(content).hexdigest() for content in (recipe, swapped))
    (back / "manifest.json").write_text(manifest.replace(*checksums), encoding="utf-8")
    return back


@contextmanager
def undrawn() -> Iterator[None]:
    """Draw no training curves in this block; drawing takes as long as a small training."""
    from regard.runs import train

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "draw_course", lambda course, path, title: set())
        yield
