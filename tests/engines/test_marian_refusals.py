"""Folders that are not Marian models, or damaged ones, are refused in a sentence, and nothing is left behind."""

import json
import pickle
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from marian_models import make
from safetensors.torch import load_file, save_file
from torch import Tensor

from regard.cli import main

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "opus"
    make(folder)
    return folder


def config(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / "config.json", changes)


def change_json(path: Path, changes: dict[str, Any]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def text(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def gone(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def weights(change: Callable[[dict[str, Tensor]], Any]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)

    return damage


def cut(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-100])


def pickled(content: Callable[[Path], Any], save: Callable[..., None] = torch.save) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        data = content(folder)
        (folder / WEIGHTS).unlink()
        with (folder / "pytorch_model.bin").open("wb") as file:
            save(data, file)

    return damage


class Bomb:
    """Creates a file when unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.folder / "exploded",))


def in_several_files(folder: Path) -> None:
    (folder / WEIGHTS).rename(folder / "model-00001-of-00002.safetensors")
    (folder / "model.safetensors.index.json").write_text("{}")


def learned_places(folder: Path) -> dict[str, Tensor]:
    tensors = load_file(folder / WEIGHTS)
    return tensors | {"model.encoder.embed_positions.weight": torch.randn(64, 16)}


def packed_again(method: int, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Return a torch archive with another pickle in it."""

    def damage(folder: Path) -> None:
        pickled(lambda folder: load_file(folder / WEIGHTS))(folder)
        path = folder / "pytorch_model.bin"
        with zipfile.ZipFile(path) as old:
            members = {name: old.read(name) for name in old.namelist()}
        with zipfile.ZipFile(path, "w", method) as new:
            for name, content in members.items():
                new.writestr(name, change(content) if name.endswith("data.pkl") else content)

    return damage


def claiming_more(folder: Path) -> None:
    """Return an archive with one record listed many times."""
    packed_again(zipfile.ZIP_STORED, bytes)(folder)
    path = folder / "pytorch_model.bin"
    content = path.read_bytes()
    *start, count, again, _, place, comment = struct.unpack("<4s4H2IH", content[-22:])
    entries = content[place:-22] * 100
    end = struct.pack("<4s4H2IH", *start, count, again, len(entries), place, comment)
    path.write_bytes(content[:place] + entries + end)


def two_lists(folder: Path) -> None:
    pickled(lambda folder: load_file(folder / WEIGHTS))(folder)
    path = folder / "pytorch_model.bin"
    content = path.read_bytes()
    path.write_bytes(content + content[-22:])


HUGE = 1 << 22
FIRST = "model.encoder.layers.0.fc1.bias"
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no folder": (shutil.rmtree, "There is no folder"),
    "no config": (gone("config.json"), "is not a Hugging Face model folder: it has no config.json"),
    "config cut": (text("config.json", "{"), "config.json is damaged: it is not JSON"),
    "config nested": (text("config.json", "[" * 100_000), "config.json is damaged: it is not JSON"),
    "config a list": (text("config.json", "[]"), "config.json is damaged: it does not hold a table"),
    "a BERT": (config(model_type="bert"), "describes a model of type 'bert'; only 'marian' can be imported"),
    "a text for a size": (config(d_model="16"), "d_model is '16', expected a whole number"),
    "absurd width": (config(d_model=10**9), "d_model is 1000000000, expected 65536 or less"),
    "absurd depth": (config(encoder_layers=10**12), "encoder_layers is 1000000000000, expected 512 or less"),
    "absurd vocabulary": (config(vocab_size=10**10), "vocab_size is 10000000000, expected 16777216 or less"),
    "another width": (config(d_model=32), "has the shape ({tokens}, 16), but config.json says ({tokens}, 32)"),
    "odd heads": (config(encoder_attention_heads=3), "width 16 cannot be shared out among 3 heads"),
    "more layers": (config(encoder_layers=3), "has no 'model.encoder.layers.2.fc1.weight'"),
    "fewer layers": (
        config(encoder_layers=1),
        "holds 'model.encoder.layers.1.fc1.bias', which does not fit config.json",
    ),
    "smaller vocabulary": (config(vocab_size=500), "vocab.json is not the model's vocabulary"),
    "larger vocabulary": (config(vocab_size=600), "has the shape ({tokens}, 16), but config.json says (600, 16)"),
    "padding outside": (config(pad_token_id=9999), "its pad is 9999, which is not among its {tokens} pieces"),
    "unknown activation": (
        config(activation_function="mish"),
        "activation is 'mish', but regard supports only relu, gelu, swish",
    ),
    "two ends": (config(eos_token_id=[0, 5]), "has 2 tokens that end an output"),
    "search of texts": (lambda folder: change_json(folder / "generation_config.json", {"num_beams": "4"}), "num_beams"),
    "no weights": (gone(WEIGHTS), "has neither model.safetensors nor pytorch_model.bin."),
    "several files": (in_several_files, "its weights are in several files, but regard reads only one"),
    "weights cut": (cut, "model.safetensors is damaged"),
    "weights of text": (text(WEIGHTS, "not at all weights"), "model.safetensors is damaged"),
    "no tensor": (weights(lambda tensors: tensors.pop(FIRST)), f"has no '{FIRST}', which config.json requires"),
    "not finite": (
        weights(lambda tensors: tensors[FIRST].fill_(float("nan"))),
        "holds a value that is not a finite number",
    ),
    "whole numbers": (
        weights(lambda t: t.update({FIRST: torch.ones(24, dtype=torch.long)})),
        "does not hold floating-point numbers but torch.int64",
    ),
    "learned places": (pickled(learned_places), "does not hold sinusoids"),
    "a bomb": (pickled(Bomb), "pytorch_model.bin is damaged or holds more than weights, so it is not loaded"),
    "a plain pickle": (pickled(Bomb, pickle.dump), "pytorch_model.bin is damaged or holds more than weights"),
    "a cut pickle": (
        pickled(lambda folder: b"PK\\3\\4", lambda data, file: file.write(data)),
        "pytorch_model.bin is dam",
    ),
    "an empty pickle": (
        pickled(lambda folder: b"", lambda data, file: file.write(data)),
        "holds more than weights, so it is not loaded: its pickles do not end",
    ),
    "a packed pickle": (
        packed_again(zipfile.ZIP_DEFLATED, lambda pickle: pickle + bytes(HUGE)),
        "records are compressed",
    ),
    "a long pickle": (
        packed_again(zipfile.ZIP_STORED, lambda pickle: b"\x80\2" + b"]" * HUGE),
        "describes too many tensors",
    ),
    "records on records": (claiming_more, "its records claim to be larger than the file"),
    "two lists of records": (two_lists, "it does not end like torch's archives"),
    "a long old pickle": (
        pickled(lambda folder: b"\x80\2" + b"]" * HUGE, lambda data, file: file.write(data)),
        "pytorch_model.bin is damaged or holds more than weights, so it is not loaded: its pickles do not end",
    ),
    "a list": (pickled(lambda folder: [1, 2]), "does not hold a table of tensors"),
    "no vocabulary": (gone("vocab.json"), "There is no"),
    "vocabulary of texts": (text("vocab.json", '{"a": "b"}'), "vocab.json is not the model's vocabulary"),
    "vocabulary of one number": (text("vocab.json", '{"a": 1, "<unk>": 1}'), "gives several pieces the same number"),
    "nothing unknown": (text("vocab.json", '{"a": 1}'), "has no '<unk>', the piece for unknown words"),
    "no pieces": (gone("target.spm"), "There is no"),
    "pieces of text": (text("source.spm", "hello"), "source.spm is damaged: SentencePiece cannot read it"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_bad_folder_is_refused(good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    folder, out = tmp_path / "marian", tmp_path / "out"
    shutil.copytree(good, folder)
    damage, words = DAMAGES[name]
    damage(folder)
    assert main(["import", "marian", str(folder), "-o", str(out)]) == 2
    lines = capsys.readouterr().err.splitlines()
    faults = [line for line in lines if line.startswith("regard: ")]
    assert len(faults) == 1
    # Versions of SentencePiece learn slightly different numbers of pieces.
    tokens = len(json.loads((good / "vocab.json").read_text(encoding="utf-8")))
    assert words.replace("{tokens}", str(tokens)) in faults[0]
    assert not (folder / "exploded").exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"marian"}


def test_the_bomb_would_go_off(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(tmp_path)))
    assert (tmp_path / "exploded").exists()


def test_outputs_are_not_replaced_by_mistake(good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(out: Path, *more: str) -> str:
        assert main(["import", "marian", str(good), "-o", str(out), *more]) == 2
        return capsys.readouterr().err

    other = tmp_path / "other"
    other.mkdir()
    (other / "diary.txt").write_text("dear")
    assert "other exists already; give --overwrite to replace it" in refused(other)
    assert "other holds other things (it has diary.txt) and is not replaced" in refused(other, "--overwrite")
    assert "other/diary.txt is a file; name a folder" in refused(other / "diary.txt", "--overwrite")
    assert "is or contains the Marian model itself" in refused(good, "--overwrite")
    assert "is or contains the Marian model itself" in refused(good.parent, "--overwrite")
    assert "has no code for the language 'xyz'; it has >>por<<, >>rus<<." in refused(
        tmp_path / "out", "--target-language", "xyz"
    )
    assert (other / "diary.txt").read_text() == "dear"
    assert not (tmp_path / "out").exists()
