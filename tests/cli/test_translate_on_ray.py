"""Shards on a Ray cluster: the work of its workers, and the message without a cluster."""

import socket
import sys
from pathlib import Path
from types import ModuleType

import capital_translator
import pytest

from regard.cli import main
from regard.console.lines import TextInput
from regard.verbs.translate import line_translator, unfinished
from regard.verbs.translate.bulk.finishing import BulkJob
from regard.verbs.translate.bulk.ray_cluster import RayWorker
from regard.verbs.translate.bulk.shards import cut_into_shards
from regard.verbs.translate.line_translator import LineJob
from regard.verbs.translate.request import TranslateRequest


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    (tmp_path / "in").write_text("one\ntwo\nlong\nfour\nfive\n")
    model = capital_translator.write_model(tmp_path / "model")
    return ["translate", str(model), str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--on", "ray"]


def test_without_ray_it_says_what_to_install(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(asked) == 2
    assert "--on ray needs ray, which is not installed: pip install 'regard[ray]'." in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "model"]


def test_a_worker_finishes_shards_and_tells_faults_as_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_translator, "open_translator", capital_translator.Capitals)
    monkeypatch.setattr(line_translator, "PORTION", 2)
    monkeypatch.setattr(unfinished, "PORTION", 2)
    source = tmp_path / "in"
    source.write_bytes(b"one\ntwo\nlong\nfour\n\xff\n")
    request = TranslateRequest(text=[], explain=False)
    lines = LineJob(capital_translator.write_model(tmp_path / "model"), request, "float32", TextInput(file=source))
    worker = RayWorker(BulkJob(lines, {}, tmp_path), cut_into_shards(source, 3))
    assert worker({"place": 1}) == {"place": 1, "sentences": [], "long": [3, 1, 2]}
    assert (tmp_path / "2-of-3").read_text() == "LONG\nFOUR\n"
    assert worker({"place": 2})["sentences"] == [
        f"{source}, line 5: not valid UTF-8 (byte 0xff); is the file in another encoding, or not text?"
    ]


def test_a_cluster_that_does_not_answer_is_named(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{unheard.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
        monkeypatch.setitem(sys.modules, "ray.data", ModuleType("ray.data"))
        assert main(asked) == 2
    assert f"No Ray cluster answers at {address}, which RAY_ADDRESS names" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_of_this_machine(asked: list[str], tmp_path: Path, trained: Path) -> None:
    pytest.importorskip("ray", reason="ray is an extra, and large")
    assert main(["translate", str(trained), *asked[2:], "--workers", "1"]) == 0
    assert main(["translate", str(trained), *asked[2:4], str(tmp_path / "one")]) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()
