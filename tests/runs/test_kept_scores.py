"""The scores that a model folder keeps."""

import json
import math
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.metrics import Score
from regard.runs.kept_scores import keep_scores, read_scores, score_in_words
from regard.training.checkpoint import RECIPE, SCORES, scores_to_bytes, update_folder


def test_a_loss_that_is_no_number_is_kept_as_null_and_the_folder_can_still_be_read(tmp_path: Path) -> None:
    update_folder(
        tmp_path, {RECIPE: b"", SCORES: scores_to_bytes([Score("loss", float("nan"), "", 3, "valid").as_dict()])}
    )
    keep_scores(tmp_path, [Score("perplexity", float("inf"), "", 3, "test"), Score("bleu", 41.0, "nrefs:1", 3, "test")])
    scores = json.loads((tmp_path / SCORES).read_text(), parse_constant=lambda constant: 1 / 0)["scores"]
    assert [score["value"] for score in scores] == [None, None, 41.0]
    assert [score_in_words(score) for score in read_scores(tmp_path)] == [
        "valid loss –",
        "test perplexity –",
        "test bleu 41.00  (nrefs:1)",
    ]


def test_what_cannot_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path, files: dict[str, bytes]) -> None:
        raise Fault("There is no room.")

    monkeypatch.setattr("regard.runs.kept_scores.update_folder", refuse)
    remarks: list[str] = []
    keep_scores(tmp_path, [Score("bleu", 41.0, "", 3, "test")], remarks.append)
    assert remarks == [f"{tmp_path} is not writable, so the scores are not stored there."]


def test_a_score_of_nothing_is_shown_as_a_dash() -> None:
    assert Score("agreement", math.nan, "percent", 0, deviation=math.nan).shown == "–"
    assert Score("agreement", 50.0, "percent", 2).shown == "50.00"
