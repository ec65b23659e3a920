"""An export in a model folder: found, checked, refused when incomplete or of another model; without torch."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from marian_models import make

from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2.engine import load_engine
from regard.engines.ctranslate2.export import export_ctranslate2
from regard.engines.exported import CTRANSLATE2, is_export, read_export
from regard.engines.marian.importing import import_marian
from regard.training import checkpoint
from regard.verbs.translate.model import load_translation_model

SEARCH = DecodingOptions(beam=2, stop="first", longest_ratio=1.0, longest_extra=2)
TEXTS = ["I love books.", "", "Ana sees the red house."]


@pytest.fixture(scope="module")
def exported(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "run"
    shutil.copytree(trained, folder)
    export_ctranslate2(folder, folder / "ctranslate2", "float32")
    return folder


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(exported, folder, ignore=shutil.ignore_patterns("training"))
    return folder


def test_a_model_folder_with_an_export_is_as_whole_as_before(exported: Path) -> None:
    assert is_export(exported / CTRANSLATE2)
    before = checkpoint.read_folder(exported)
    assert "weights.safetensors" in before
    load_translation_model(exported, device="cpu")


def test_the_engine_reads_the_search_of_the_recipe_and_writes_text(exported: Path) -> None:
    engine, model = load_engine(exported), load_translation_model(exported, device="cpu")
    assert engine.decoding == model.recipe.decoding
    texts = [engine.target.decode(row[0].tokens) for row in engine.translate(TEXTS, SEARCH)]
    assert len(texts) == 3
    assert texts[1] == ""
    assert texts[0] != texts[2]


def test_an_export_is_a_function_of_the_model(exported: Path, tmp_path: Path) -> None:
    export_ctranslate2(exported, tmp_path / "again", "float32")
    files = [{path.name: path.read_bytes() for path in folder.iterdir()}
             for folder in (exported / "ctranslate2", tmp_path / "again")]  # fmt: skip
    assert files[0] == files[1]
    assert set(files[0]) == {"model.bin", "config.json", "shared_vocabulary.json", "export.json"}


@pytest.mark.parametrize("separate", [False, True])
def test_an_imported_marian_model_is_exported_too(tmp_path: Path, separate: bool) -> None:
    """Its tokens have other numbers, it begins with padding, and tokens it never writes have a bias of -10⁹."""
    make(tmp_path / "marian", separate=separate)
    check_same_translations(tmp_path / "marian", tmp_path / "model")


def test_the_ends_of_source_and_target_may_have_other_numbers_even_where_numbers_are_names(tmp_path: Path) -> None:
    make(tmp_path / "marian", separate=True)
    change(tmp_path / "marian" / "config.json", lambda table: table | {"eos_token_id": 5})
    change(tmp_path / "marian" / "generation_config.json", lambda table: table | {"eos_token_id": 5})
    change(
        tmp_path / "marian" / "target_vocab.json",
        lambda table: {"a b" if number == 9 else piece: {0: 5, 5: 0}.get(number, number)
                       for piece, number in table.items()},
    )  # fmt: skip
    check_same_translations(tmp_path / "marian", tmp_path / "model")
    vocabularies = [tmp_path / "model" / "ctranslate2" / f"{side}_vocabulary.json" for side in ("source", "target")]
    assert [json.loads(path.read_bytes()).index("</s>") for path in vocabularies] == [0, 5]


def change(path: Path, new: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    path.write_text(json.dumps(new(json.loads(path.read_bytes()))))


def check_same_translations(marian: Path, folder: Path) -> None:
    """Import and export a Marian model; CTranslate2 writes what ours does, with the same scores."""
    import_marian(marian, folder)
    export_ctranslate2(folder, folder / "ctranslate2", "float32")
    engine, model = load_engine(folder), load_translation_model(folder, device="cpu")
    texts = ["I love books.", "Ana sees the red house."]
    for text, row in zip(texts, engine.translate(texts, SEARCH, explained=True), strict=True):
        assert sum(row[0].token_scores) == pytest.approx(float(model.force([text], [row[0].tokens])), abs=1e-3)
        batch = model.task.read([text])
        limits = batch.source_lengths + 2
        assert row[0].tokens == beam_search(model.task, batch, limits, SEARCH)[0][0].tokens


def test_without_torch(exported: Path) -> None:
    """Loading and translating, with scores and alignments, never import torch, which takes a second or more."""
    program = f"""
import sys
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2.engine import load_engine
engine = load_engine({str(exported)!r})
found = engine.translate(["I love books."], DecodingOptions(beam=2, longest_extra=3), explained=True)
assert found[0][0].token_scores and engine.target.decode(found[0][0].tokens) is not None
sys.exit("torch" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_folder_without_an_export_says_how_to_make_one(trained: Path) -> None:
    assert not is_export(trained / CTRANSLATE2)
    with pytest.raises(Fault) as caught:
        load_engine(trained)
    assert str(caught.value) == (
        f"{trained} holds no export; make one with `regard export {trained} --to ctranslate2`."
    )


def test_an_export_of_other_weights_is_refused(copied: Path) -> None:
    weights = checkpoint.bytes_to_weights((copied / "weights.safetensors").read_bytes(), "weights")
    changed = {name: tensor + 1 for name, tensor in weights.items()}
    checkpoint.update_folder(copied, {"weights.safetensors": checkpoint.weights_to_bytes(changed)})
    with pytest.raises(Fault) as caught:
        load_engine(copied)
    assert str(caught.value) == (
        f"{copied / 'ctranslate2'} was made before the model changed; "
        f"make it again with `regard export {copied} --to ctranslate2 --quantisation float32 --overwrite`."
    )


def spoil(name: str) -> Callable[[Path], None]:
    def spoilt(folder: Path) -> None:
        path = folder / name
        path.write_bytes(path.read_bytes()[:-1] + b"?")

    return spoilt


def lead_outside(folder: Path) -> None:
    record = json.loads((folder / "ctranslate2" / "export.json").read_bytes())
    record["files"]["../recipe.toml"] = "0" * 64
    (folder / "ctranslate2" / "export.json").write_text(json.dumps(record), encoding="utf-8")


def make_link(folder: Path) -> None:
    path = folder / "ctranslate2" / "model.bin"
    path.rename(folder / "elsewhere.bin")
    path.symlink_to(folder / "elsewhere.bin")


def be_elsewhere(folder: Path) -> None:
    (folder / "ctranslate2").rename(folder.parent / "elsewhere")
    (folder / "ctranslate2").symlink_to(folder.parent / "elsewhere")


def be_newer(folder: Path) -> None:
    path = folder / "ctranslate2" / "export.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"format": 1', '"format": 2'), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (
            spoil("ctranslate2/model.bin"),
            r"model\.bin is damaged: its checksum is not the one it was written with; make",
        ),
        (spoil("ctranslate2/export.json"), r"export\.json is damaged; make it again with `regard export "),
        (spoil("tokeniser.model"), r"tokeniser\.model is damaged: its checksum is not the one"),
        (spoil("recipe.toml"), r"recipe\.toml is damaged: its checksum is not the one"),
        (spoil("manifest.json"), r"manifest\.json is damaged: it is not a list of files and their checksums"),
        (
            lambda folder: (folder / "ctranslate2" / "config.json").unlink(),
            r"config\.json is missing or cannot be read",
        ),
        (lambda folder: (folder / "manifest.json").unlink(), r"is not a model folder: it has no manifest\.json"),
        (lead_outside, r"'\.\./recipe\.toml' should be a file in .*, but is outside it"),
        (make_link, r"'model\.bin' should be a file in .*, but is outside it"),
        (be_elsewhere, r"ctranslate2 is a link; an export must be a folder inside its model folder"),
        (be_newer, r"was made by another version of regard; make it again"),
    ],
)
def test_a_damaged_export_is_refused(copied: Path, harm: Callable[[Path], None], said: str) -> None:
    harm(copied)
    with pytest.raises(Fault, match=said):
        load_engine(copied)


def test_what_ctranslate2_cannot_read_is_a_fault_too(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = read_export(copied / "ctranslate2") | {"model.bin": b"a"}
    monkeypatch.setattr("regard.engines.ctranslate2.engine.read_export", lambda folder: broken)
    with pytest.raises(Fault, match=r"CTranslate2 cannot read .*/ctranslate2: File model.bin is incomplete.*\d\.$"):
        load_engine(copied)


def test_without_the_package_there_is_one_sentence(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(
        Fault, match=r"^CTranslate2 is not installed; install the package ctranslate2, or translate with"
    ):
        load_engine(exported)
