"""Pairs as other tools leave them: Zstandard files, tables, and folders of parallel files."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import zstandard
from pyarrow import parquet

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora.options import Corpus, PairData
from regard.data.corpora.prepare import prepare
from regard.data.corpora.text import input_names, read_chunks, read_pairs

PAIRS = [(f"The number {number}.", f"Die Zahl {number}.") for number in range(50)]
MANY = [(f"{number} is a number.", f"{number} ist eine Zahl.") for number in range(2_500)]  # more than one read takes


def corpus(**table: Any) -> Corpus:
    return check(Corpus, {name: str(value) if isinstance(value, Path) else value for name, value in table.items()})


def table_of(pairs: list[tuple[str, str]]) -> Any:
    return pyarrow.table({"id": range(len(pairs)), "translation": [{"en": one, "de": two} for one, two in pairs]})


def write_stream(path: Path, table: Any) -> None:
    """Write a stream as `datasets.save_to_disk` does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pyarrow.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=7)


def refusal(given: Corpus) -> str:
    with pytest.raises(Fault) as caught:
        list(read_pairs(given))
    return str(caught.value)


def test_zstandard_is_read_across_frames_and_damage_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.zst"
    lines = [f"{source}\t{target}\n".encode() for source, target in PAIRS]
    whole = zstandard.compress(b"".join(lines[:20])) + zstandard.compress(b"".join(lines[20:]))
    path.write_bytes(whole)
    assert list(read_pairs(corpus(pairs=path))) == PAIRS
    path.write_bytes(whole[:10] + b"\0\0\0\0" + whole[14:])
    assert f"{path} is damaged or incomplete and cannot be decompressed" in refusal(corpus(pairs=path))
    path.write_bytes(whole[:-3])
    assert "cannot be decompressed (it is truncated)" in refusal(corpus(pairs=path))


def test_what_is_not_installed_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.tsv.zst", "a.parquet"):
        (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    how = "which is not installed: pip install 'regard[data]'."
    assert refusal(corpus(pairs=tmp_path / "a.tsv.zst")).endswith(f"compressed by Zstandard, needs zstandard, {how}")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert refusal(corpus(pairs=tmp_path / "a.parquet")).endswith(f"which is a table, needs pyarrow, {how}")


def test_parquet_by_plain_columns_and_by_fields(tmp_path: Path) -> None:
    plain = pyarrow.table({"source": [one for one, _ in MANY], "target": [two for _, two in MANY]})
    parquet.write_table(plain, tmp_path / "plain.parquet")
    assert list(read_pairs(corpus(pairs=tmp_path / "plain.parquet"))) == MANY
    for number, first in enumerate((0, 30)):
        name = tmp_path / "wmt" / "data" / f"train-0000{number}.parquet"
        name.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table_of(PAIRS[first : 30 + 20 * number]), name)
    fields = corpus(pairs=tmp_path / "wmt", columns=["translation.en", "translation.de"])
    assert list(read_pairs(fields)) == PAIRS
    assert next(iter(read_chunks(fields, 4))).place(2) == f"{tmp_path / 'wmt'}, pair 3"
    assert len(input_names(fields)) == 2
    assert "has no column 'source'; it has id, translation.en, translation.de. Name two of them" in refusal(
        corpus(pairs=tmp_path / "wmt")
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_stream", [True, False])
def test_a_folder_of_datasets(tmp_path: Path, is_stream: bool) -> None:
    folder = tmp_path / "wmt" / "train"
    for name, part in {"b.arrow": PAIRS[:30], "a.arrow": PAIRS[30:]}.items():
        write_stream(folder / name, table_of(part))
        if not is_stream:
            with pyarrow.ipc.new_file(folder / name, table_of(part).schema) as file:
                file.write_table(table_of(part))
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "b.arrow"}, {"filename": "a.arrow"}]}))
    (tmp_path / "wmt" / "dataset_dict.json").write_text('{"splits": ["train"]}')
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "state.json").write_text('{"_fingerprint": "0"}')
    columns = ["translation.de", "translation.en"]
    assert list(read_pairs(corpus(pairs=folder, columns=columns))) == [(two, one) for one, two in PAIRS]
    assert "holds the splits train of a data set; name one of them" in refusal(corpus(pairs=tmp_path / "wmt"))
    (folder / "a.arrow").write_bytes(b"nothing of the kind")
    assert "state.json does not list the files" in refusal(corpus(pairs=tmp_path / "bare", columns=columns))
    assert "a.arrow is damaged or not a table" in refusal(corpus(pairs=folder, columns=columns))
    (tmp_path / "text.parquet").write_bytes(b"one\ttwo\n" * 20)
    assert not refusal(corpus(pairs=tmp_path / "text.parquet", columns=columns)).endswith("..")


def test_texts_of_a_table_stay_on_their_lines(tmp_path: Path) -> None:
    odd = pyarrow.table({"source": ["a\nb", None, "c\td"], "target": ["x", "y", "z"]})
    parquet.write_table(odd, tmp_path / "odd.parquet")
    assert list(read_pairs(corpus(pairs=tmp_path / "odd.parquet"))) == [("a b", "x"), ("", "y"), ("c d", "z")]
    numbers = corpus(pairs=tmp_path / "numbers.parquet")
    parquet.write_table(pyarrow.table({"source": [1], "target": ["x"]}), tmp_path / "numbers.parquet")
    assert "the column 'source' holds int64, not text." in refusal(numbers)


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Write what `mtdata get … --out` leaves, as far as it matters here."""
    folder = tmp_path / "mt"
    (folder / "train-parts").mkdir(parents=True)
    for text, pairs in {"Statmt-europarl-7": PAIRS[:30], "Statmt-news-9": PAIRS[30:]}.items():
        for side, ending in enumerate(("eng", "deu")):
            lines = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / "train-parts" / f"{text}.{ending}.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "mtdata.signature.txt").write_text("mtdata get -l eng-deu\n")
    return folder


def test_a_folder_of_parallel_files_is_read_text_after_text(parts: Path) -> None:
    options = corpus(pairs=parts / "train-parts", columns=["eng", "deu"])
    assert list(read_pairs(options)) == PAIRS
    assert [Path(name).name for name in input_names(options)][:2] == [
        "Statmt-europarl-7.eng.gz",
        "Statmt-europarl-7.deu.gz",
    ]
    assert f"name {parts}/train-parts, or two files such as {parts}/train.eng." in refusal(
        corpus(pairs=parts, columns=["eng", "deu"])
    )
    assert "or, for parallel files, their endings" in refusal(corpus(pairs=parts / "train-parts"))
    assert "has no files that end in .en and .de" in refusal(corpus(pairs=parts / "train-parts", columns=["en", "de"]))
    (parts / "train-parts" / "Statmt-news-9.deu.gz").unlink()
    assert "has Statmt-news-9.eng but no Statmt-news-9.deu; each text needs both sides." in refusal(options)


def test_a_folder_is_prepared_and_a_change_inside_it_noticed(parts: Path, tmp_path: Path) -> None:
    train = {"pairs": str(parts / "train-parts"), "columns": ["eng", "deu"]}
    options = check(PairData, {"train": train, "hold_out": 2, "tokeniser": {"kind": "bytes"}})
    prepared = prepare(options, tmp_path / "prepared")
    assert prepared.cleaning.read == 50
    assert prepared.source.decode(prepared.train.tokens("source", 0).tolist()) == "The number 0."
    (parts / "train-parts" / "Statmt-news-9.eng.gz").write_bytes(b"other")
    with pytest.raises(Fault, match=r"The file .*Statmt-news-9\.eng\.gz has changed"):
        prepare(options, tmp_path / "prepared")


def test_columns_are_for_what_has_some(tmp_path: Path) -> None:
    for wrong in ({"source": "a", "target": "b"}, {"pairs": "demo:train"}):
        with pytest.raises(Fault, match="'columns' is only for files of pairs"):
            corpus(**wrong, columns=["a", "b"])
    with pytest.raises(Fault, match="neither 'separator' nor 'form'"):
        corpus(pairs="a", columns=["a", "b"], separator=" ")
