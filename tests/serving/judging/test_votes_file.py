"""The file of votes: appended safely, read after a kill, and kept apart from other comparisons."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.serving.judging.comparison import Comparison, Item, Shown
from regard.serving.judging.votes import Vote, VotesFile, read_votes


def comparison(*pairs: tuple[str, str], **more: str) -> Comparison:
    items = [Item(str(number), None, Shown(a), Shown(b)) for number, (a, b) in enumerate(pairs, 1)]
    return Comparison(items, "one.txt", "two.txt", **more)  # type: ignore[arg-type]


TWO = comparison(("um", "dois"), ("três", "quatro"))


def vote(choice: str, item: str = "1", judge: str = "Ana", of: Comparison = TWO) -> Vote:
    return Vote(comparison=of.identity, judge=judge, item=item, order=("b", "a"), choice=choice, time="t")


def test_each_line_is_a_json_object(tmp_path: Path) -> None:
    file = VotesFile(tmp_path / "votes.jsonl", TWO)
    file.add(vote("a"))
    heading, line = map(json.loads, file.path.read_text(encoding="utf-8").splitlines())
    assert heading == {
        "comparison": TWO.identity, "a": "one.txt", "b": "two.txt", "items": 2, "question": "better", "person": None,
    }  # fmt: skip
    assert line == {
        "comparison": TWO.identity, "judge": "Ana", "item": "1", "order": ["b", "a"], "choice": "a", "time": "t",
    }  # fmt: skip


def test_the_last_vote_of_a_judge_on_an_item_counts(tmp_path: Path) -> None:
    file = VotesFile(tmp_path / "votes.jsonl", TWO)
    for ballot in (vote("a"), vote("b", "2"), vote("tie"), vote("b", judge="Rui")):
        file.add(ballot)
    expected = {"Ana": {"1": "tie", "2": "b"}, "Rui": {"1": "b"}}
    assert file.ballots == read_votes(file.path).ballots == VotesFile(file.path, TWO).ballots == expected


@pytest.mark.parametrize("kept", range(0, 120, 7))
def test_a_line_that_a_kill_cut_short_is_replaced(tmp_path: Path, kept: int) -> None:
    file = VotesFile(tmp_path / "votes.jsonl", TWO)
    file.add(vote("a"))
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + vote("b", "2").model_dump_json().encode()[:kept])
    assert read_votes(file.path).ballots == {"Ana": {"1": "a"}}
    VotesFile(file.path, TWO).add(vote("tie", "2"))
    assert file.path.read_bytes() == whole + vote("tie", "2").model_dump_json().encode() + b"\n"


def test_a_first_line_that_a_kill_cut_short_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    VotesFile(path, TWO)
    whole = path.read_bytes()
    for size in (0, 1, 20, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:size])
        VotesFile(path, TWO)
        assert path.read_bytes() == whole


@pytest.mark.long
def test_every_acknowledged_vote_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    script = (
        "import sys; from pathlib import Path; from regard.serving.judging.votes import *\n"
        "from regard.serving.judging.comparison import *\n"
        "items = [Item(str(n), None, Shown('x'), Shown('y')) for n in range(10**5)]\n"
        "file = VotesFile(Path(sys.argv[1]), Comparison(items, 'x', 'y'))\n"
        "given = read_votes(file.path).heading.comparison\n"
        "for item in items:\n"
        "    file.add(Vote(comparison=given, judge='J', item=item.name, order=('a', 'b'), choice='a', time=''))\n"
        "    print(item.name, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "25\n":
                process.send_signal(signal.SIGKILL)
                break
        acknowledged = [line.strip() for line in process.stdout]
    items = set(read_votes(path).ballots["J"])
    assert {str(number) for number in range(26)} | set(acknowledged) <= items


def test_votes_of_another_comparison_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    VotesFile(path, TWO).add(vote("a"))
    for other in (comparison(("um", "dois")), comparison(("um", "dois"), ("três", "cinco"))):
        with pytest.raises(Fault, match=r"has votes on another comparison .*name another file with --votes"):
            VotesFile(path, other)
    with pytest.raises(Fault, match="another comparison"):
        VotesFile(path, comparison(("um", "dois"), ("três", "quatro"), question="person", person="b"))


def test_joined_files_are_one_if_they_are_of_one_comparison(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "two", "three")]
    VotesFile(paths[0], TWO).add(vote("a"))
    VotesFile(paths[1], TWO).add(vote("b", judge="Rui"))
    other = comparison(("um", "dois"))
    VotesFile(paths[2], other).add(vote("b", of=other))
    joined = tmp_path / "joined"
    joined.write_bytes(paths[0].read_bytes() + paths[1].read_bytes())
    assert read_votes(joined).ballots == {"Ana": {"1": "a"}, "Rui": {"1": "b"}}
    joined.write_bytes(paths[0].read_bytes() + paths[2].read_bytes())
    with pytest.raises(Fault, match=r"Line 3 of .* is on another comparison than the first"):
        read_votes(joined)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "has no votes"),
        (b"Dear diary", "has no votes"),
        (b"Dear diary\n", "Line 1 of .* does not describe a comparison"),
        (b'{"comparison": 3}\n', "Line 1 of .* does not describe a comparison"),
    ],
)
def test_other_files_are_refused_and_stay_as_they_are(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "diary"
    path.write_bytes(content)
    with pytest.raises(Fault, match=sentence):
        read_votes(path)
    if content:
        with pytest.raises(Fault, match=sentence):
            VotesFile(path, TWO)
        assert path.read_bytes() == content


def test_a_damaged_line_among_others_is_named(tmp_path: Path) -> None:
    file = VotesFile(tmp_path / "votes.jsonl", TWO)
    file.path.write_bytes(file.path.read_bytes() + b'{"judge": 1}\n')
    with pytest.raises(Fault, match=r"Line 2 of .* does not hold a vote"):
        read_votes(file.path)


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="is a folder"):
        VotesFile(tmp_path, TWO)
    with pytest.raises(Fault, match="There is no folder"):
        VotesFile(tmp_path / "nowhere" / "votes.jsonl", TWO)
