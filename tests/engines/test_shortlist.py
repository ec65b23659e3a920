"""The shortlist: translations are learnt, frequent tokens are always included, and CTranslate2 respects it."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.corpora.shards import Pairs, ShardBuilder, write_lengths
from regard.decoding.options import DecodingOptions
from regard.engines import shortlist
from regard.engines.ctranslate2.engine import load_engine
from regard.engines.ctranslate2.export import export_ctranslate2
from regard.engines.shortlist import Shortlist, learn_shortlist

SOURCE = ["<pad>", "<unk>", "<s>", "</s>", "the", "house", "book", "Ana"]
TARGET = ["<pad>", "<unk>", "<s>", "</s>", "das", "Haus", "Buch", "Ana", "never"]
THE, HOUSE, BOOK, ANA = range(4, 8)


def corpus(folder: Path, *rows: tuple[list[int], list[int]]) -> Pairs:
    builder = ShardBuilder(len(TARGET), keep_text=False)
    for row in rows:
        builder.add(row, ("", ""))
    shard = builder.write(folder / "shard.bin", 0)
    write_lengths(folder, [shard])
    return Pairs(folder, [shard], [1.0])


def only(monkeypatch: pytest.MonkeyPatch, common: int, translations: int) -> None:
    monkeypatch.setattr(shortlist, "COMMON", common)
    monkeypatch.setattr(shortlist, "TRANSLATIONS", translations)


def test_model_1_finds_the_translations_of_the_classic_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """the house, das Haus; the book, das Buch: each finds its own, though never alone."""
    only(monkeypatch, common=0, translations=1)
    shortlist = learn_shortlist(
        corpus(tmp_path, ([THE, HOUSE], [THE, HOUSE]), ([THE, BOOK], [THE, BOOK])), SOURCE, TARGET
    )
    assert (shortlist.translations[THE], shortlist.translations[HOUSE], shortlist.translations[BOOK]) == (
        [THE],
        [HOUSE],
        [BOOK],
    )


def test_the_most_frequent_are_common_to_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, common=2, translations=1)
    pairs = corpus(tmp_path, ([THE], [BOOK, HOUSE, BOOK]), ([THE], [HOUSE, BOOK, THE]))
    assert learn_shortlist(pairs, SOURCE, TARGET).common == [BOOK, HOUSE]
    only(monkeypatch, common=100, translations=1)
    assert learn_shortlist(pairs, SOURCE, TARGET).common == [
        BOOK,
        HOUSE,
        THE,
    ]  # a token that never occurs is not common


def test_the_same_piece_is_a_candidate_though_never_seen(tmp_path: Path) -> None:
    shortlist = learn_shortlist(corpus(tmp_path, ([THE], [THE])), SOURCE, TARGET)
    assert shortlist.translations[ANA] == [ANA]
    assert BOOK not in shortlist.translations  # its piece differs in the target


def test_a_large_corpus_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [([THE], [THE]), ([HOUSE], [HOUSE])] * 5
    monkeypatch.setattr(shortlist, "MOST_LINKS", 10)  # there are 20, the empty word counted
    learnt = learn_shortlist(corpus(tmp_path, *rows), SOURCE, TARGET)
    assert learnt.common == [THE]  # every other row


def test_progress_is_told(tmp_path: Path) -> None:
    reports: list[tuple[int, int | None]] = []
    learn_shortlist(
        corpus(tmp_path, ([THE], [THE])), SOURCE, TARGET, lambda what, done, total: reports.append((done, total))
    )
    assert reports[0] == (0, shortlist.ROUNDS)
    assert reports[-1] == (shortlist.ROUNDS, shortlist.ROUNDS)


def test_candidates_and_the_file_that_ctranslate2_reads() -> None:
    shortlist = Shortlist([4], {5: [5, 6], 6: [7]})
    assert shortlist.candidates([5, 9]) == {4, 5, 6}
    assert shortlist.text(SOURCE, TARGET) == "\tdas\nhouse\tHaus Buch\nbook\tAna\n"


@pytest.fixture(scope="module")
def listed(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listed") / "run"
    shutil.copytree(trained, folder)
    export_ctranslate2(folder, folder / "ctranslate2", "float32", shortlist=True)
    return folder


def test_outputs_keep_to_the_candidates_of_their_sentence(listed: Path) -> None:
    engine = load_engine(listed, workers=1)
    allowed = _read(listed / "ctranslate2" / "vmap.txt")
    texts = ["I love books.", "Ana sees the red house.", "The cat sleeps."]
    search = DecodingOptions(beam=2, longest_ratio=1.0, longest_extra=3)
    alone = [engine.translate([text], search)[0][0].tokens for text in texts]
    for text, tokens in zip(texts, alone, strict=True):
        pieces = engine.source.pieces(engine.source.encode(text))
        candidates = {
            "<unk>",
            "<s>",
            "</s>",
            *allowed[""],
            *(candidate for piece in pieces for candidate in allowed[piece]),
        }
        assert set(engine.target.pieces(tokens)) <= candidates
        assert len(candidates) < engine.target.size
    # One sentence's candidates are gone when the next one comes.
    assert [engine.translate([text], search)[0][0].tokens for text in reversed(texts)] == alone[::-1]


def _read(path: Path) -> dict[str, list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return {key: words.split(" ") for key, words in (line.split("\t") for line in lines)}


def test_a_shortlist_makes_the_output_layer_smaller_and_so_changes_the_scores(listed: Path, tmp_path: Path) -> None:
    whole = tmp_path / "run"
    shutil.copytree(listed, whole)
    export_ctranslate2(whole, whole / "ctranslate2", "float32")
    search = DecodingOptions(beam=1, longest_ratio=1.0, longest_extra=1)
    scores = [
        load_engine(folder, workers=1).translate(["I love books."], search)[0][0].score for folder in (whole, listed)
    ]
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_without_the_training_data_there_is_no_shortlist(trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    shutil.rmtree(folder / "training")
    with pytest.raises(Fault, match=r"learnt from the training data, but its prepared corpus is no longer at .*corpus"):
        export_ctranslate2(folder, folder / "ctranslate2", shortlist=True)
    assert not (folder / "ctranslate2").exists()


def test_a_corpus_of_other_tokens_is_refused(trained: Path) -> None:
    with pytest.raises(Fault, match=r"was tokenised differently from"):
        shortlist.training_corpus(trained, None, {"source.model": b"another"})
