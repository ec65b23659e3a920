"""`regard judge` on the real command line: files, models, references of a split, the page, and the report."""

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from sound_files import tone
from toys import open_trained_toy

import regard
from regard.cli import main
from regard.commands.judge.gathering import JudgeRequest, gather
from regard.data.sounds.files import sound_file
from regard.serving.judging.votes import Vote, VotesFile


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with sources, a model's outputs and a person's."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("source.en", "one two three"), ("model.pt", "um dois tres"), ("person.pt", "um dois três")):
        Path(name).write_text("".join(f"{line}\n" for line in lines.split()), encoding="utf-8")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["judge", *arguments]) == 2
    return capsys.readouterr().err


def test_lines_are_paired_with_their_sources(files: Path) -> None:
    gathering = gather(JudgeRequest("model.pt", "person.pt", Path("source.en"), person="b"))
    assert [(item.name, item.source and item.source.text, item.a.text, item.b.text) for item in gathering.items] == [
        ("1", "one", "um", "um"),
        ("2", "two", "dois", "dois"),
        ("3", "three", "tres", "três"),
    ]
    assert (gathering.a, gathering.b, gathering.question, gathering.person) == ("model.pt", "person.pt", "better", "b")
    assert gather(JudgeRequest("model.pt", "person.pt")).items[0].source is None


def test_a_count_chooses_some_items_and_always_the_same(files: Path) -> None:
    some = gather(JudgeRequest("model.pt", "person.pt", count=2))
    assert len(some.items) == 2
    assert some.identity == gather(JudgeRequest("model.pt", "person.pt", count=2)).identity
    assert len(gather(JudgeRequest("model.pt", "person.pt", count=9)).items) == 3


def test_bad_input_is_one_sentence(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("short.pt").write_text("um\n", encoding="utf-8")
    Path("empty.pt").write_text("", encoding="utf-8")
    Path("folder").mkdir()
    for arguments, sentence in (
        (["model.pt", "short.pt"], "model.pt has 3 lines but short.pt has 1 line; each item needs both."),
        (["model.pt", "person.pt", "--source", "short.pt"], "short.pt has 1 line but model.pt has 3 lines; each item"),
        (["model.pt", "empty.pt"], "empty.pt is empty; there is nothing to judge."),
        (["model.pt", "none.pt"], "There is no file or folder none.pt."),
        (["model.pt", "folder"], "folder is not a model folder, and has no files to judge (.png,"),
        (["model.pt", "model.pt"], "A and B are both model.pt; name two different outputs."),
        (["model.pt"], "Name two outputs to compare, A and B, or a file of votes with --report."),
        (["model.pt", "person.pt", "--turing"], "say which it is with --person A or --person B."),
        (["model.pt", "reference"], "one side must be a model folder."),
        (["model.pt", "reference", "--source", "source.en"], "with --source, name a file of references."),
        (["model.pt", "person.pt", "--split", "test"], "--split is for models;"),
        (["model.pt", "person.pt", "--split", "test", "--source", "x"], "Give either --split or --source, not both."),
        (["model.pt", "person.pt", "--json"], "--json is for --report."),
        (["--report", "none.jsonl"], "There is no file of votes none.jsonl;"),
        (["--report", "model.pt"], "Line 1 of model.pt does not describe a comparison;"),
        (["model.pt", "person.pt", "--report", "x"], "--report reads votes that were given; omit A."),
        (["model.pt", "person.pt", "--votes", "model.pt"], "Line 1 of model.pt does not describe a comparison;"),
    ):
        message = refused(capsys, *arguments, *([] if "--report" in arguments else ["--port", "0"]))
        assert sentence in message
        assert message.count("\n") == 1, message
    assert Path("model.pt").read_text(encoding="utf-8") == "um\ndois\ntres\n"


def test_folders_are_paired_by_the_names_of_their_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("one", "two"):
        Path(folder).mkdir()
        for number in (2, 10):
            Path(folder, f"say-{number}.wav").write_bytes(sound_file(tone(50 * number, 0.1, 4000), 4000))
    Path("lines.txt").write_text("two\nten\n", encoding="utf-8")
    gathering = gather(JudgeRequest("one", "two", Path("lines.txt")))
    assert [item.name for item in gathering.items] == ["say-2", "say-10"]
    assert {item.a.media for item in gathering.items} == {"audio/wav"}
    assert gathering.items[1].a.content == Path("two/say-10.wav").read_bytes()
    assert "one gives sounds and lines.txt texts" in refused(capsys, "one", "lines.txt", "--port", "0")
    Path("two/say-2.wav").rename("two/say-3.wav")
    assert "one has a file say-2 where two has say-3; they must be called alike." in refused(capsys, "one", "two")
    Path("one/say-2.svg").write_text("<svg/>", encoding="utf-8")
    assert "one has two files called say-2; keep one of them." in refused(capsys, "one", "two")


def test_a_translator_is_judged_on_a_source_and_against_a_person(
    trained: Path, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("in.en").write_text("I love books.\nAna sees the red house.\n", encoding="utf-8")
    Path("out.pt").write_text("Eu amo livros.\nAna vê a casa vermelha.\n", encoding="utf-8")
    gathering = gather(JudgeRequest(str(trained), "out.pt", Path("in.en"), person="b", question="person"))
    capsys.readouterr()
    assert main(["translate", str(trained), "in.en"]) == 0
    assert [item.a.text for item in gathering.items] == capsys.readouterr().out.splitlines()
    assert [item.b.text for item in gathering.items] == Path("out.pt").read_text(encoding="utf-8").splitlines()
    assert "out.pt holds outputs for some sources; name those with --source." in refused(capsys, str(trained), "out.pt")
    assert f"The recipe of {trained} names no test data; give --source" in refused(capsys, str(trained), "reference")


def test_the_references_of_a_split_are_a_persons(trained: Path, files: Path) -> None:
    gathering = gather(JudgeRequest(str(trained), "reference", split="valid", count=2))
    assert (len(gathering.items), gathering.person) == (2, "b")
    assert all(item.source and item.source.text and item.b.text for item in gathering.items)
    turned = gather(JudgeRequest("reference", str(trained), split="valid", count=2))
    assert [(item.a, item.b) for item in turned.items] == [(item.b, item.a) for item in gathering.items]
    assert turned.person == "a"


def test_drawings_are_vector_images(tmp_path: Path, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = open_trained_toy("sketchformer", tmp_path).folder.folder
    Path("drawn").mkdir()
    for number in range(3):
        Path(f"drawn/{number}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    gathering = gather(JudgeRequest(str(folder), "drawn", person="b"))
    assert [item.a.media for item in gathering.items] == ["image/svg+xml"] * 3
    assert all(item.a.content.startswith(b"<svg") for item in gathering.items)
    assert "draws at random and reads no source; omit --source." in refused(
        capsys, str(folder), "drawn", "--source", "source.en"
    )


def test_captions_are_judged_by_their_pictures_against_a_person(tmp_path: Path, files: Path) -> None:
    folder = open_trained_toy("video captioner", tmp_path).folder.folder
    found = gather(JudgeRequest(str(folder), "reference", count=2))
    assert (len(found.items), found.person) == (2, "b")
    for item in found.items:
        assert item.source is not None
        assert item.source.content.startswith(b"\x89PNG")
    captions = regard.load(folder).caption([item.name for item in found.items], attention=False)
    assert [item.a.text for item in found.items] == [caption.text for caption in captions]
    assert all(len(item.b.text.split()) > 3 for item in found.items)


def test_sounds_of_a_model_are_judged_by_their_text(
    tmp_path: Path, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = open_trained_toy("tacotron", tmp_path).folder.folder
    Path("letters.txt").write_text("ab\nc\n", encoding="utf-8")
    Path("said").mkdir()
    for number in (1, 2):
        Path(f"said/{number}.wav").write_bytes(sound_file(tone(100, 0.1, 4000), 4000))
    found = gather(JudgeRequest(str(folder), "said", Path("letters.txt"), person="b"))
    assert [item.source and item.source.text for item in found.items] == ["ab", "c"]
    assert all(item.a.media == "audio/wav" and item.a.content.startswith(b"RIFF") for item in found.items)
    assert f"{folder} reads texts, but the sources are sounds." in refused(
        capsys, str(folder), "letters.txt", "--source", "said"
    )
    assert f"{folder} is a tacotron; give what it reads with --source." in refused(capsys, str(folder), "reference")


def test_a_model_that_gives_something_else_is_refused(tmp_path: Path, files: Path, capsys: Any) -> None:
    folder = open_trained_toy("gat", tmp_path).folder.folder
    message = refused(capsys, str(folder), "model.pt", "--source", "source.en")
    assert f"{folder} is a gat, which gives a class for each node; people judge texts, captions, sounds" in message


def write_votes(path: Path, question: str, choices: dict[str, str]) -> None:
    """Votes of some judges on three items: a letter for each, = for a tie."""
    comparison = gather(JudgeRequest("model.pt", "person.pt", person="b", question=question))  # type: ignore[arg-type]
    file = VotesFile(path, comparison)
    for judge, letters in choices.items():
        for item, letter in enumerate(letters, 1):
            choice = "tie" if letter == "=" else letter
            fields: dict[str, Any] = {"judge": judge, "item": str(item), "order": ("a", "b"), "choice": choice}
            file.add(Vote(comparison=comparison.identity, time="", **fields))


def test_the_report_counts_each_judge(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_votes(Path("votes.jsonl"), "better", {"Ana": "ab=", "Rui": "abb"})
    assert main(["judge", "--report", "votes.jsonl"]) == 0
    out, remarks = capsys.readouterr()
    assert [line.split() for line in out.splitlines()] == [
        ["judge", "votes", "A", "better", "B", "better", "equal", "p", "M1"],
        ["Ana", "3", "1", "1", "1", "1.000", "66.7%"],
        ["Rui", "3", "1", "2", "0", "1.000", "33.3%"],
        ["all", "6", "2", "3", "1", "1.000", "50.0%"],
    ]
    # They agree on two of three; by chance on (1·1 + 1·2 + 1·0) / 9 = 1/3.
    assert "Cohen's κ of 2 judges on 3 items: 0.50." in remarks
    assert "A person made B. M1 is the share of the other's judged as good as the person's or better." in remarks
    assert main(["judge", "--report", "votes.jsonl", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["all"] == {"votes": 6, "a": 2, "b": 3, "ties": 1, "p": 1.0, "m1": 0.5}
    assert report["judges"][1] == {"judge": "Rui", "votes": 3, "a": 1, "b": 2, "ties": 0, "p": 1.0, "m1": 1 / 3}
    assert report["agreement"] == {"statistic": "cohen", "judges": 2, "items": 3, "kappa": pytest.approx(0.5)}
    assert (report["a"], report["b"], report["person"], report["judged"]) == ("model.pt", "person.pt", "b", 3)


def test_the_report_of_a_turing_test(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_votes(Path("votes.jsonl"), "person", {"Ana": "ab="})
    assert main(["judge", "--report", "votes.jsonl"]) == 0
    out, remarks = capsys.readouterr()
    assert out.splitlines()[1].split() == ["Ana", "3", "1", "1", "1", "1.000", "33.3%"]
    assert len(out.splitlines()) == 2
    assert "M2 is the share of the other's taken for a person's." in remarks
    assert "There is only one judge, so there is no agreement to measure." in remarks


def test_the_report_says_when_judges_cannot_be_compared(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_votes(Path("same.jsonl"), "better", {"Ana": "bbb", "Rui": "bbb", "Eva": "bbb"})
    assert main(["judge", "--report", "same.jsonl"]) == 0
    assert "Fleiss' κ of 3 judges on 3 items is undefined: all choices are the same." in capsys.readouterr().err
    write_votes(Path("none.jsonl"), "better", {})
    assert "none.jsonl has no votes yet." in refused(capsys, "--report", "none.jsonl")


def test_votes_of_another_comparison_are_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_votes(Path("votes.jsonl"), "better", {"Ana": "ab="})
    message = refused(capsys, "model.pt", "person.pt", "--port", "0")  # without --person
    assert "votes.jsonl has votes on another comparison (model.pt and person.pt); name another file" in message


def test_the_command_serves_the_page_until_it_is_stopped(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["judge", "model.pt", "person.pt", "--source", "source.en", "--votes", "votes.jsonl", "--port", "0"]
    command = [sys.executable, "-m", "regard", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=files) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "Both sides have the same output for 2 of 3 items.\n"
            match = re.fullmatch(
                r"regard: 3 to judge at (http://127\.0\.0\.1:\d+/)([\w-]{22})/\n", process.stderr.readline()
            )
            assert match is not None
            assert process.stderr.readline() == "regard: votes go to votes.jsonl; Ctrl-C ends.\n"
            page = match[1] + match[2]
            with pytest.raises(urllib.error.HTTPError) as error:
                urllib.request.urlopen(f"{match[1]}{'x' * 22}/item?judge=Ana", timeout=20)
            assert error.value.code == 403
            error.value.close()
            body = json.dumps({"judge": "Ana", "at": 0, "choice": "="}).encode()
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{page}/vote", body, headers)
            with urllib.request.urlopen(request, timeout=20) as answer:
                assert json.load(answer)["voted"] == 1
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert main(["judge", "--report", "votes.jsonl"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["Ana", "1", "0", "0", "1", "1.000"]
