"""`regard answer` and `regard look` with a story: from a file, from standard input, and refusals."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small import undrawn
from story_files import write_stories

from regard.base.progress import silent
from regard.cli import main
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train

Run = Callable[..., tuple[int, str, str]]
STORY = "Ana went to the garden.\nWhere is Ana?\nAna went to the office.\nEva went to the office.\nWhere is Eva?\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    data = {"train": str(write_stories(folder / "walks.txt", 12)), "test": str(folder / "walks.txt"), "facts": 2}
    training = {"steps": 2, "validate_every": 2, "save_every": 2, "device": "cpu", "batch": 8}
    table = {"family": "memory", "data": data, "model": {"hops": 2, "width": 4}, "training": training}
    with undrawn():
        train(open_run(check_recipe(table), folder / "run", False, silent, lambda remark: None), [])
    return folder / "run"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the status, output and remarks of a command line."""

    def command(*arguments: object, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        status, captured = main(list(map(str, arguments))), capsys.readouterr()
        return status, captured.out, captured.err

    return command


def test_each_question_of_a_file_gets_an_answer_in_its_order(run: Run, model: Path, tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY, encoding="utf-8")
    code, out, message = run("answer", model, story)
    assert (code, len(out.splitlines())) == (0, 2)
    assert "its first fact is dropped" in message
    assert run("answer", model, typed=STORY)[1] == out
    first, second = map(json.loads, run("answer", model, story, "--json")[1].splitlines())
    assert [first["answer"], second["answer"]] == out.splitlines()
    assert (first["forgotten"], second["forgotten"]) == (0, 1)
    assert set(first["probabilities"]) == {"garden", "kitchen", "office"}


def test_that_stories_are_longer_than_the_memory_is_said_once(run: Run, model: Path) -> None:
    story_text = "Ana went to the garden.\n" * 4 + "Where is Ana?\n"
    code, out, message = run("answer", model, typed=story_text * 3 + "\nEva went to the office.\nWhere is Eva?\n")
    assert (code, len(out.splitlines())) == (0, 4)
    assert message == (
        "3 of 4 questions are about more facts than the model remembers; "
        "the first facts of these stories are dropped.\n"
    )


def test_a_fault_at_a_terminal_leaves_the_story_as_it_was(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.console.lines.TextInput.is_typed", True)
    code, out, message = run("answer", model, typed="Ana went to the garden.\nWhere is Bob?\nWhere is Ana?\n")
    assert (code, len(out.splitlines())) == (0, 1)
    assert message.startswith("The model does not know the word 'bob' of 'Where is Bob?'; it knows 11 words.")
    assert message.endswith("An empty line begins another story.\n")


def test_what_is_looked_at_is_the_last_question(run: Run, model: Path, tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY, encoding="utf-8")
    code, out, message = run("look", model, story)
    assert code == 0
    assert "Where is Eva? →" in message
    assert "Ana went to the office." in out
    assert "(1 earlier fact is forgotten)" in out
    assert run("look", model, story, "-o", tmp_path / "hops.json")[0] == 0
    numbers = json.loads((tmp_path / "hops.json").read_text(encoding="utf-8"))
    assert [sum(weights) for weights in numbers["weights"]] == pytest.approx([1, 1])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: tell a story, one fact per line, and ask a question in the last line."),
        ("Ana went to the garden.\n", "does not end with a question mark."),
        ("Where is Ana?\n", "it has no facts: tell something before you ask 'Where is Ana?'."),
        (
            "Ana went to Paris.\nWhere is Ana?\n",
            "the model does not know the word 'paris' of the fact 'Ana went to Paris.' before this question",
        ),
    ],
)
def test_a_fault_is_one_sentence(run: Run, model: Path, tmp_path: Path, text: str, sentence: str) -> None:
    story = tmp_path / "story.txt"
    story.write_text(text, encoding="utf-8")
    code, out, message = run("answer", model, story)
    assert (code, out) == (2, "")
    assert f"regard: {story}" in message
    assert sentence in message


def test_a_file_that_is_not_there_is_a_fault(run: Run, model: Path) -> None:
    code, _, message = run("answer", model, "nowhere.txt")
    assert code == 2
    assert "There is no file nowhere.txt." in message


@pytest.mark.parametrize("verb", ["answer", "look"])
def test_a_story_on_one_line_is_asked_for_its_facts(run: Run, model: Path, verb: str) -> None:
    code, _, message = run(verb, model, f"{'Ana went to the garden. ' * 20}Where is Ana?")
    assert code == 2
    assert "it has no facts: tell something before you ask 'Ana went to the garden." in message


def test_scores_are_told_of_the_whole_and_of_each_file(run: Run, model: Path) -> None:
    scores = json.loads(run("evaluate", model, "--json")[1])
    assert {score["metric"] for score in scores["scores"]} == {"error", "loss", "agreement"}
    assert list(scores["parts"]) == ["walks"]
