"""Texts of one language as training corpora: tags, shares, cleaning, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora.mono_corpora import corpus_weights, mono_files
from regard.data.corpora.options import PairData
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import PreparedPairs
from regard.data.corpora.resampling import PairCutter, SampledPiece

BACK = {"way": "back", "model": "somewhere"}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "text"
    folder.mkdir()
    pairs = "".join(f"the number {number}\to número {number}\n" for number in range(40))
    (folder / "real.tsv").write_text(pairs, encoding="utf-8")
    lines = "".join(f"o gato {number}\n" for number in range(20))
    (folder / "mono.pt").write_text(lines + "outra coisa\n", encoding="utf-8")
    (folder / "valid.tsv").write_text("something else\toutra coisa\n", encoding="utf-8")
    return folder


def data_with(files: Path, *mono: dict[str, Any], **more: Any) -> PairData:
    table = {
        "train": str(files / "real.tsv"),
        "valid": str(files / "valid.tsv"),
        "mono": [{"file": str(files / "mono.pt"), **text} for text in mono],
        "tokeniser": {"kind": "words"},
    }
    return check(PairData, table | more)


def prepared_with(files: Path, folder: Path, *mono: dict[str, Any], **more: Any) -> PreparedPairs:
    """Prepare data whose machine text is written already: a line `the cat N` for each `o gato N`."""
    data = data_with(files, *mono, **more)
    for number, text in enumerate(data.mono, 1):
        sides = mono_files(folder, number)
        sides[0].parent.mkdir(parents=True, exist_ok=True)
        if text.model:
            sides[0].write_text("".join(f"the cat {line}\n" for line in range(20)) + "another thing\n")
            sides[1].write_text((files / "mono.pt").read_text(encoding="utf-8"))
    return prepare(data, folder)


def source_of(prepared: PreparedPairs, row: int) -> list[int]:
    tokens: list[int] = prepared.train.tokens("source", row).tolist()
    return tokens


def test_back_translated_sources_begin_with_a_tag_that_no_text_has(files: Path, tmp_path: Path) -> None:
    prepared = prepared_with(files, tmp_path / "corpus", BACK)
    begin = prepared.source.begin
    assert [source_of(prepared, row)[0] == begin for row in (0, 39, 40, 59)] == [False, False, True, True]
    assert prepared.source.decode(source_of(prepared, 40)) == "the cat 0"
    assert begin not in prepared.train.tokens("target", 40)
    for text in ("<s>", "<s> the cat 0", "the <s> cat", " <s>"):
        assert begin not in prepared.source.encode(text)


@pytest.mark.parametrize("kind", ["unigram", "bpe", "characters", "bytes", "words", "spaces"])
def test_no_tokeniser_splits_the_tag_or_writes_it_for_a_text(files: Path, tmp_path: Path, kind: str) -> None:
    tokeniser = {"kind": kind, "vocabulary": 400}
    prepared = prepared_with(files, tmp_path / "corpus", BACK, tokeniser=tokeniser)
    begin = prepared.source.begin
    rows = range(len(prepared.train))
    assert [source_of(prepared, row).count(begin) for row in rows] == [0] * 40 + [1] * 20
    for text in ("<s>", "<s> the cat", "[CLS] the cat", "\x02"):
        assert begin not in prepared.source.encode(text)


def test_a_tokeniser_that_reads_the_tag_from_text_cannot_tag(files: Path, tmp_path: Path) -> None:
    wordpiece = {"kind": "wordpiece", "vocabulary": 400}
    with pytest.raises(Fault, match="no token to tag sources with"):
        prepared_with(files, tmp_path / "corpus", BACK, tokeniser=wordpiece)
    untagged = prepared_with(files, tmp_path / "other", BACK | {"tag": False}, tokeniser=wordpiece)
    assert len(untagged.train) == 60


def test_a_tag_can_be_left_out_and_given_to_other_corpora(files: Path, tmp_path: Path) -> None:
    untagged = prepared_with(files, tmp_path / "corpus", BACK | {"tag": False})
    assert untagged.source.begin not in source_of(untagged, 40)
    tagged = prepared_with(files, tmp_path / "other", train={"pairs": str(files / "real.tsv"), "tagged": True})
    assert source_of(tagged, 0)[0] == tagged.source.begin


def test_a_tag_stays_when_text_is_tokenised_at_random(files: Path, tmp_path: Path) -> None:
    tokeniser = {"kind": "unigram", "vocabulary": 400, "sampling": 0.3}
    prepared = prepared_with(files, tmp_path / "corpus", BACK, tokeniser=tokeniser)
    cutter = PairCutter(prepared.train, prepared.source, prepared.target, 50)
    source, target = cutter(SampledPiece(1, 0, np.array([0, 40])))
    begin = prepared.source.begin
    assert [row[0] == begin for row in source.rows()] == [False, True]
    assert all(begin not in row for row in target.rows())
    assert prepared.source.decode(source.rows()[1].tolist()) == "the cat 0"


def test_copied_text_is_its_own_source(files: Path, tmp_path: Path) -> None:
    prepared = prepared_with(files, tmp_path / "corpus", {"way": "copy"})
    assert source_of(prepared, 45) == prepared.train.tokens("target", 45).tolist()
    assert prepared.source.decode(source_of(prepared, 45)) == "o gato 5"


def test_what_validation_has_is_not_learnt_and_only_real_pairs_are_held_out(files: Path, tmp_path: Path) -> None:
    prepared = prepared_with(files, tmp_path / "corpus", BACK)
    assert prepared.report[0] == "read 61 pairs, kept 60 (dropped 1 shared with validation or test)"
    held = prepared_with(files, tmp_path / "held", BACK, valid=[], hold_out=2)
    assert len(held.valid) == 2
    assert all(source.startswith("the number") for source, _ in held.valid)


def test_a_share_is_exact_and_without_one_the_size_counts(files: Path, tmp_path: Path) -> None:
    by_size = prepared_with(files, tmp_path / "corpus", BACK)
    assert [weight for _, _, weight in by_size.train.corpora] == [40, 20]
    halves = prepared_with(files, tmp_path / "halves", BACK | {"share": 0.75})
    weights = [weight for _, _, weight in halves.train.corpora]
    assert weights == pytest.approx([40, 120])


def test_shares_of_several_texts_are_of_the_whole(files: Path) -> None:
    data = data_with(files, BACK | {"share": 0.5}, {"way": "copy", "share": 0.25}, {"way": "copy"})
    weights = [weight or 0.0 for weight in corpus_weights(data, [40, 7, 8, 10])]
    assert weights == pytest.approx([40, 100, 50, 10])  # 50 of 200 by size: the other 150 are three quarters
    assert corpus_weights(data_with(files, BACK), [40, 20]) == [None, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ({"way": "back"}, "way = 'back' needs a model that writes the other side"),
        ({"way": "copy", "model": "m"}, "way = 'copy' needs no model"),
        ({"way": "copy", "writing": {"sample": True}}, "way = 'copy' writes nothing"),
        (BACK | {"writing": {"top_k": 3}}, "top_k has no effect without sample"),
        (BACK | {"writing": {"sample": True, "noise": True}}, "noise is for beam search"),
        (BACK | {"writing": {"sample": True, "beam": 2}}, "give one of them"),
        ({"way": "forward", "model": "m", "writing": {"noise": True}}, "noise is for sources"),
        (BACK | {"share": 1.0}, "expected less than 1"),
        ({"way": "sideways"}, "expected one of 'back', 'forward', 'copy'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(files: Path, text: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault) as caught:
        data_with(files, text)
    assert words in " ".join(caught.value.sentences)


def test_shares_and_tags_that_do_not_fit_the_corpora_are_refused(files: Path) -> None:
    with pytest.raises(Fault, match="leaves nothing for the pairs"):
        data_with(files, BACK | {"share": 0.5}, BACK | {"share": 0.5})
    two = [{"pairs": str(files / "real.tsv"), "weight": 1.0}, {"pairs": "other.tsv", "weight": 1.0}]
    with pytest.raises(Fault, match=r"each text of data\.mono needs a share"):
        data_with(files, BACK, train=two)
    with pytest.raises(Fault, match="only training corpora can be tagged"):
        data_with(files, valid={"pairs": str(files / "valid.tsv"), "tagged": True})
