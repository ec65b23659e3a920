"""The rule for what follows MODEL: texts by --text or as words, files by name, for every verb that reads."""

import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from toy_verbs import inputs_of
from toys import open_trained_toy

from regard.cli import main

Given = Callable[..., tuple[int, bytes, str]]

# verb -> the toy to ask, its options, and the name of its output file, if any
TEXTS: dict[str, tuple[str, list[str], str | None]] = {
    "translate": ("seq2seq", ["--beam", "2"], None),
    "look": ("encoder", [], None),
    "answer": ("bag", ["--json"], None),
    "speak": ("tacotron", ["--seconds", "0.2", "--rounds", "2"], "sound.wav"),
    "draw": ("painter", [], "drawing.json"),
    "generate": ("ngram", ["--tokens", "4", "--beam", "2"], None),
    "embed": ("seq2seq", [], "vectors.npz"),
}
FILES = {"caption": ("captioner", ["--json"], None), "transcribe": ("ctc", ["--json"], None)}
VERBS = TEXTS | FILES
SEVERAL = ("translate", "answer", "generate", "embed")
MISSING = "There is no file gone.txt. If it is a text, give it by --text."


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, list[str]]]:
    """Train a toy and return its folder with two inputs."""

    @cache
    def trained(name: str) -> tuple[Path, list[str]]:
        folder = tmp_path_factory.mktemp(name)
        task = open_trained_toy(name, folder).recipe.task
        return folder / "run", inputs_of(name, task, folder)

    return trained


@pytest.fixture
def ask(
    toy: Callable[[str], tuple[Path, list[str]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Given:
    """Ask a verb's toy, in an empty folder, and return the status, what was printed or written, and remarks."""
    monkeypatch.chdir(tmp_path)

    def run(verb: str, *following: str, typed: str | None = "", model: str | None = None) -> tuple[int, bytes, str]:
        name, options, out = VERBS[verb]
        monkeypatch.setattr("sys.stdin", None if typed is None else io.TextIOWrapper(io.BytesIO(typed.encode())))
        into = [] if out is None else ["-o", out, "--overwrite"]
        status, captured = main([verb, str(toy(model or name)[0]), *following, *options, *into]), capsys.readouterr()
        if status or out is None:
            return status, captured.out.encode(), captured.err
        return status, Path(out).read_bytes(), captured.err

    return run


@pytest.mark.one_in(3)
@pytest.mark.parametrize("verb", TEXTS)
def test_a_text_is_given_by_option_or_as_a_word_or_in_a_file(verb: str, ask: Given, toy: Callable[..., object]) -> None:
    _, (first, second) = toy(TEXTS[verb][0])  # type: ignore[misc]
    texts = [first, second] if verb in SEVERAL else [first]
    Path("texts.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    by_option = ask(verb, *(word for text in texts for word in ("--text", text)))
    assert by_option[0] == 0, by_option
    assert by_option[1]
    assert ask(verb, *texts)[:2] == by_option[:2]
    assert ask(verb, "texts.txt")[:2] == by_option[:2]
    assert ask(verb, "-", typed=Path("texts.txt").read_text(encoding="utf-8"))[:2] == by_option[:2]


@pytest.mark.parametrize("verb", FILES)
def test_files_are_named_as_words_or_on_standard_input(verb: str, ask: Given, toy: Callable[..., object]) -> None:
    _, names = toy(FILES[verb][0])  # type: ignore[misc]
    by_name = ask(verb, *names)
    assert by_name[0] == 0, by_name
    assert len(by_name[1].splitlines()) == 2
    for following in ([], ["-"]):
        assert ask(verb, *following, typed="".join(f"{name}\n" for name in names)) == by_name
    code, printed, message = ask(verb, "--text", "a")
    assert (code, printed) == (2, b"")
    assert "--text is for models that read text; a " in message


@pytest.mark.parametrize("verb", ["draw", "generate"])
def test_a_prompt_is_a_text(verb: str, ask: Given) -> None:
    text = {"draw": "white", "generate": "I see the"}[verb]
    assert ask(verb, "--prompt", text) == ask(verb, "--text", text)


@pytest.mark.parametrize("verb", TEXTS)
@pytest.mark.parametrize(
    ("following", "sentence"),
    [
        (["gone.txt"], MISSING),
        (["here.txt", "gone.txt"], MISSING),
        (["some/where"], "There is no file some/where. If it is a text, give it by --text."),
        (["here.txt", "a word"], "here.txt is a file and 'a word' is not; name files or give texts, not both."),
        (["here.txt", "--text", "a"], "Give INPUT or --text, not both."),
        (["a", "--text", "a"], "Give INPUT or --text, not both."),
    ],
)
def test_what_cannot_be_decided_is_refused(verb: str, following: list[str], sentence: str, ask: Given) -> None:
    Path("here.txt").write_text("white\n", encoding="utf-8")
    code, printed, message = ask(verb, *following)
    assert (code, printed) == (2, b"")
    assert sentence in message
    assert "Traceback" not in message


def test_a_text_by_option_is_never_a_file(ask: Given) -> None:
    Path("lovely").write_text("I see the house.\n", encoding="utf-8")
    as_text, as_file = ask("generate", "--text", "lovely"), ask("generate", "lovely")
    assert as_text[1].startswith(b"lovely")
    assert as_file[1].startswith(b"I see the house.")


def test_a_folder_is_no_file_unless_it_is_written_as_a_path(ask: Given) -> None:
    Path("house").mkdir()
    assert ask("generate", "house") == ask("generate", "--text", "house")
    code, _, message = ask("generate", "./house")
    assert code == 2
    assert "house is a folder; name a text file inside it." in message


@pytest.mark.parametrize("verb", ["look", "speak", "draw"])
def test_where_one_text_is_asked_for_several_words_are_refused_and_the_last_option_counts(
    verb: str, ask: Given
) -> None:
    text = {"look": "a lovely film", "speak": "a b", "draw": "white"}[verb]
    code, _, message = ask(verb, text, text)
    assert code == 2
    assert re.search("give one( text| to look at), not 2", message, re.IGNORECASE)
    assert ask(verb, "--text", "nobody", "--text", text) == ask(verb, "--text", text)


@pytest.mark.parametrize("verb", VERBS)
def test_standard_input_that_is_closed_is_refused(verb: str, ask: Given) -> None:
    code, printed, message = ask(verb, "-", typed=None)
    assert (code, printed) == (2, b"")
    assert "There is no standard input; name a file to read." in message


def test_only_one_file_is_translated_at_a_time(ask: Given) -> None:
    for name in ("one.txt", "two.txt"):
        Path(name).write_text("I see the house.\n", encoding="utf-8")
    code, printed, message = ask("translate", "one.txt", "two.txt")
    assert (code, printed) == (2, b"")
    assert "Only one file can be translated at a time; give one, not 2." in message
    code, printed, _ = ask("answer", "one.txt", "two.txt")
    assert (code, len(printed.splitlines())) == (0, 2)


def test_a_model_that_draws_from_chance_takes_no_text(ask: Given) -> None:
    for following in (["a"], ["--text", "a"], ["--prompt", "a"]):
        code, _, message = ask("draw", *following, model="draw")
        assert code == 2
        assert message == "regard: This model reads no prompt; it draws pictures at random.\n"


@pytest.mark.parametrize(("model", "reads"), [("gat", "a gat reads a node"), ("ram", "a ram reads a picture's file")])
def test_a_model_that_reads_no_text_is_given_none(model: str, reads: str, ask: Given) -> None:
    code, printed, message = ask("answer", "--text", "0", model=model)
    assert (code, printed) == (2, b"")
    assert f"--text is for models that read text; {reads}." in message


def test_numbers_of_nodes_are_words_or_lines(ask: Given) -> None:
    Path("nodes.txt").write_text("0\n3\n", encoding="utf-8")
    by_name = ask("answer", "0", "3", model="gat")
    assert by_name[0] == 0
    assert len(by_name[1].splitlines()) == 2
    assert ask("answer", "nodes.txt", model="gat") == by_name


def test_a_story_is_told_in_words_by_option_and_in_a_file(ask: Given, toy: Callable[..., object]) -> None:
    _, (story, _) = toy("memory")  # type: ignore[misc]
    Path("story.txt").write_text(f"{story}\n", encoding="utf-8")
    by_file = ask("answer", "story.txt", model="memory")
    assert by_file[0] == 0, by_file
    assert ask("answer", *story.splitlines(), model="memory") == by_file
    assert ask("answer", "--text", story, model="memory") == by_file
    shown = ask("look", "story.txt", model="memory")
    assert shown[0] == 0, shown
    assert ask("look", *story.splitlines(), model="memory") == shown
