"""A damaged export translates as before or is refused with the name of a file; nothing else."""

import json
import random
import shutil
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.base.model_folder import update_folder
from regard.cli import main
from regard.decoding.options import DecodingOptions
from regard.engines.exported import RECORD
from regard.engines.fast import load_fast

TEXTS = ["I love books.", "Ana sees the red house."]
SEARCH = DecodingOptions(beam=2, longest_ratio=1.0, longest_extra=2)
KINDS = ("ctranslate2", "onnx")


@pytest.fixture(scope="module")
def exported(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "run"
    shutil.copytree(trained, folder)
    for kind in KINDS:
        assert main(["export", str(folder), "--to", kind, "--shortlist"]) == 0
    shutil.rmtree(folder / "training")
    return folder


def translated(folder: Path, kind: str) -> list[str]:
    engine = load_fast(folder, kind)  # type: ignore[arg-type]
    assert engine is not None
    return [translation.text for translation in engine.translations(TEXTS, SEARCH)]


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Flip a bit, change a byte, remove or repeat a piece, cut off the end, or empty the file."""
    first, last = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    place = draw.randrange(len(content))
    return draw.choice(
        [
            content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :],
            content[:place] + bytes([draw.randrange(256)]) + content[place + 1 :],
            content[:first] + content[last:],
            content[:last] + content[first:last] + content[last:],
            content[:place],
            b"",
        ]
    )


def sign(folder: Path, name: str) -> None:
    """Update the checksum of a changed file, as an attacker would."""
    record = json.loads((folder / RECORD).read_bytes())
    record["files"][name] = checksum((folder / name).read_bytes())
    (folder / RECORD).write_text(json.dumps(record))


def check_mutations(exported: Path, tmp_path: Path, kind: str, count: int, seed: int) -> None:
    """Mutate each file in turn and compare the output."""
    draw, right = random.Random(seed), translated(exported, kind)
    copy = tmp_path / "run"
    shutil.copytree(exported, copy)
    names = sorted(path.name for path in (exported / kind).iterdir())
    sentences = []
    for number in range(count):
        name = names[number % len(names)]
        whole = (exported / kind / name).read_bytes()
        (copy / kind / name).write_bytes(mutated(whole, draw))
        if (sentence := told(copy, kind, right)) is not None:
            # The fault may be in what a record says about other files.
            place = copy / kind if name == RECORD else copy / kind / name
            assert str(place) in sentence, f"seed {seed}, mutation {number} of {name}: {sentence}"
            sentences.append(sentence)
        (copy / kind / name).write_bytes(whole)
    assert len(sentences) > count / 2


def told(folder: Path, kind: str, right: list[str] | None = None) -> str | None:
    """Return the refusal of an export, if any; otherwise check its output."""
    try:
        texts = translated(folder, kind)
    except Fault as fault:
        return str(fault)
    assert texts == (right or texts)
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found_and_named(exported: Path, tmp_path: Path, kind: str) -> None:
    check_mutations(exported, tmp_path, kind, 60, random.randrange(2**32))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_damage_of_any_kind_is_found_and_named(exported: Path, tmp_path: Path, kind: str) -> None:
    check_mutations(exported, tmp_path, kind, 500, random.randrange(2**32))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("ctranslate2", "vmap.txt"),
        ("ctranslate2", "config.json"),
        ("ctranslate2", "shared_vocabulary.json"),
        ("onnx", "shortlist.npz"),
        ("onnx", "about.json"),
    ],
)
def test_what_is_damaged_and_vouched_for_is_never_a_fault_of_ours(
    exported: Path, tmp_path: Path, kind: str, name: str
) -> None:
    """It may translate differently, but any fault is a sentence about this export."""
    seed = random.randrange(2**32)
    draw, copy = random.Random(seed), tmp_path / "run"
    shutil.copytree(exported, copy)
    whole = (exported / kind / name).read_bytes()
    for number in range(30):
        (copy / kind / name).write_bytes(mutated(whole, draw))
        sign(copy / kind, name)
        sentence = told(copy, kind)
        assert sentence is None or str(copy / kind) in sentence, f"seed {seed}, mutation {number}: {sentence}"


@pytest.mark.parametrize(("kind", "name"), [("ctranslate2", "vmap.txt"), ("onnx", "shortlist.npz")])
def test_a_shortlist_that_nothing_vouches_for_is_refused(exported: Path, tmp_path: Path, kind: str, name: str) -> None:
    copy = tmp_path / "run"
    shutil.copytree(exported, copy)
    record = json.loads((copy / kind / RECORD).read_bytes())
    del record["files"][name]
    (copy / kind / RECORD).write_text(json.dumps(record))
    with pytest.raises(Fault, match=f"{name} is not in export.json, so it cannot be trusted; make it again with"):
        translated(copy, kind)


def test_a_recipe_that_lacks_what_an_engine_needs_is_refused_by_name(exported: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(exported, copy)
    update_folder(copy, {"recipe.toml": b"[model]\nlongest = 'long'\n"})
    for kind in KINDS:
        with pytest.raises(Fault, match=r"recipe\.toml: the recipe needs 'data'") as fault:
            translated(copy, kind)
        assert "model.longest is 'long', expected a whole number" in str(fault.value)
