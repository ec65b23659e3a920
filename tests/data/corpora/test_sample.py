"""The first pairs of corpora, for inspection."""

from pathlib import Path

import pytest

from regard.base.recipe import check
from regard.data.corpora import sample
from regard.data.corpora.options import PairData
from regard.data.corpora.sample import first_pairs
from regard.data.corpora.text import read_pairs


def test_the_first_pairs_of_each_corpus_stand_for_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LOOKED_AT", 2)
    (tmp_path / "long.txt").write_text("one | um\ntwo | dois\nthree | três\n")
    (tmp_path / "short.tsv").write_text("four\tquatro\n")
    long = {"pairs": str(tmp_path / "long.txt"), "separator": " | ", "weight": 3.0, "held_out": False}
    short = {"pairs": str(tmp_path / "short.tsv"), "weight": 1.0}
    data = check(PairData, {"train": [long, short], "prepared": str(tmp_path / "nothing yet")})
    remarks = list[str]()
    first, second = (first_rows := first_pairs(data, tmp_path, remarks.append)).train
    assert list(read_pairs(first)) == [("one", "um"), ("two", "dois")]
    assert (first.weight, first.held_out) == (3.0, False)
    assert second == data.train[1]
    assert first_rows.prepared is None
    (remark,) = remarks
    assert remark.startswith("the data is not prepared yet, so this covers the first 2 pairs of each corpus")


def test_little_data_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "short.tsv").write_text("four\tquatro\n")
    data = check(PairData, {"train": str(tmp_path / "short.tsv")})
    assert first_pairs(data, tmp_path, pytest.fail) == data
