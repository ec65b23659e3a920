"""Compressed text is read wherever text is, by file name, and nothing plain is written under such a name."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from regard.base.faults import Fault
from regard.cli import main
from regard.commands.train import _recipe_or_pairs
from regard.data.vectors.files import read_vectors, write_vectors
from regard.data.vectors.word_vectors import WordVectors
from regard.engines.arpa import import_arpa
from regard.runs.from_text.defaults import TextFiles

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}
ARPA = b"""
\\data\\
ngram 1=4

\\1-grams:
-1 <unk>
0 <s>
-0.5 </s>
-0.5 word

\\end\\
"""


def pack(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(PACKERS[path.suffix](content))
    return path


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_text_is_scored(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = b"the cat sat on the mat\nand so did another\n"
    outputs, references = (pack(tmp_path, f"{name}{suffix}", text) for name in ("outputs", "references"))
    assert main(["score", "--hypothesis", str(outputs), "--reference", str(references), "--metric", "bleu"]) == 0
    assert "100.00" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_models_of_others_are_imported(suffix: str, tmp_path: Path) -> None:
    import_arpa(pack(tmp_path, f"model.arpa{suffix}", ARPA), tmp_path / "model")
    assert (tmp_path / "model" / "recipe.toml").is_file()
    vectors = read_vectors(pack(tmp_path, f"vectors.vec{suffix}", b"2 2\none 1 0\ntwo 0 1\n"))
    assert vectors.words == ["one", "two"]
    cut = tmp_path / f"cut.arpa{suffix}"
    cut.write_bytes(PACKERS[suffix](ARPA)[:-9])
    with pytest.raises(Fault, match=rf"cut.arpa{suffix} cannot be read: "):
        import_arpa(cut, tmp_path / "other")


@pytest.mark.parametrize("suffix", PACKERS)
def test_names_are_read_without_their_packing(suffix: str, tmp_path: Path) -> None:
    for name in (f"pairs.tsv{suffix}", "pairs.parquet"):
        assert _recipe_or_pairs(name, None, None) == (None, [Path(name)])
    assert _recipe_or_pairs(f"recipe.toml{suffix}", None, None) == (f"recipe.toml{suffix}", None)
    files = TextFiles((tmp_path / f"train.en{suffix}", tmp_path / f"train.pt{suffix}"))
    assert files.pair_of_languages() == ("en", "pt")


def test_vectors_are_not_written_plain_under_the_name_of_a_packed_file(tmp_path: Path) -> None:
    vectors = WordVectors(["one"], np.ones((1, 2), np.float32))
    with pytest.raises(Fault, match=r"out.zst cannot be written as .zst; use .gz, .xz or no compression"):
        write_vectors(tmp_path / "out.zst", vectors, "glove")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["translate", "score", "embed", "train", "import arpa", "import vectors"])
def test_the_help_names_every_packing(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    assert ".gz, .xz, .zst" in " ".join(capsys.readouterr().out.replace("│", " ").split())
