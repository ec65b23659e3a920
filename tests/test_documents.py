"""The documents are true: commands parse, Python runs, links lead somewhere, options exist."""

import ast
import re
import runpy
import shlex
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

import regard
from regard.base.faults import Fault
from regard.base.recipe import apply_settings, describe_options, read_table
from regard.cli import _root
from regard.families import FAMILIES, check_recipe, recipe_class
from regard.runs.compare.plan import make_plan

ROOT = Path(__file__).parents[1]
RECIPES = sorted((ROOT / "regard" / "recipes").glob("*.toml"))
TRANSLATOR = next(recipe for recipe in RECIPES if recipe.stem == "demo")  # the default where no recipe is named
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"pandas", "pyspark"}  # packages that documents show but regard does not need
OPERATORS = {"|", "||", "&", "&&", ";", "(", ")"}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(text: str, *languages: str) -> list[str]:
    """Return the fenced blocks in these languages; "" selects blocks that name none."""
    fenced = re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [inside for _, language, inside in fenced if language in languages]


def open_fences(text: str) -> list[str]:
    """Return fences that open a block but are followed by another opening fence or the end of the file."""
    fences, opening = [], None
    for fence in re.findall(r"^ *```.*$", text, re.MULTILINE):
        is_closing = opening is not None and fence.strip() == "```"
        fences += [opening] if opening is not None and not is_closing else []
        opening = None if is_closing else fence
    return fences if opening is None else [*fences, opening]


def spans(text: str) -> list[str]:
    """Return the code inside sentences; in a recipe only comments are sentences."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL))


def command_lines(text: str) -> Iterator[list[str]]:
    """Return the words of every `regard …` in the shell blocks, without the rest of the line."""
    for block in blocks(text, "sh", "console", ""):
        for line in block.replace("\\\n", " ").splitlines():
            if "regard" in line:
                yield from commands_in(line.strip().removeprefix("$ "))


def commands_in(line: str) -> Iterator[list[str]]:
    """Return the arguments of each `regard` on a line of shell."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.commenters, reader.whitespace_split = "#", True
    command: list[str] = []
    for word in [*reader, ";"]:
        if word not in OPERATORS:
            command.append(word)
            continue
        command = command[: next((place for place, word in enumerate(command) if set(word) <= {">", "<"}), None)]
        while command and re.match(r"\w+=", command[0]):
            del command[0]
        if command and Path(command[0]).name == "regard":
            yield command[1:]
        command = []


def parsed(arguments: list[str]) -> dict[str, Any]:
    """Parse these arguments with the real command line. Nothing runs; errors are raised."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("regard.cli.plugin_option.name_plugin", lambda place: None)
        return _parsed(arguments)


def _parsed(arguments: list[str]) -> dict[str, Any]:
    command: Any = _root()
    context = command.make_context("regard", arguments)
    while rest := [*context._protected_args, *context.args]:
        name, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    return dict(context.params)


@cache
def command_options() -> dict[str, set[str]]:
    """Return the options of every command, with `regard` itself under "" and any command under COMMAND."""
    by_command: dict[str, set[str]] = {"COMMAND": {"-h", "--help"}}

    def enter(name: str, command: Any, parent: Any) -> None:
        context = command.make_context(name, [], parent=parent, resilient_parsing=True)
        parameters = context.command.get_params(context)
        by_command[name] = {
            option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)
        }
        for inner in getattr(context.command, "commands", {}):
            enter(f"{name} {inner}".strip(), context.command.get_command(context, inner), context)

    enter("", _root(), None)
    return by_command


@cache
def recipe_options() -> set[str]:
    """Return the full names of the options and tables of all recipes."""
    kinds = [recipe_class(name, task) for name, family in FAMILIES.items() for task in family.tasks]
    options = {path for kind in kinds for path in describe_options(kind)}
    return options | {path.rpartition(".")[0] for path in options}


@cache
def make_targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))


def is_unknown(span: str) -> bool:
    """Return True if code in a sentence names a command, option, target or file that does not exist."""
    options = command_options()
    match span.split():
        case ["regard" | ".venv/bin/regard", *words]:
            names = [*takewhile(lambda word: not word.startswith("-"), words)]
            command = " ".join(names[: 2 if names[:1] in (["data"], ["import"], ["show"]) else 1])
            return command not in options or not {word for word in words if word.startswith("-")} <= options[command]
        case ["make", target, *_]:
            return target not in make_targets()
        case [option, *_] if re.match(r"--\w", option):
            return not any(option in names for names in options.values())
        case [path] if re.match(r"(regard|tests|docs)/", path):
            return "NAME" not in path and not (ROOT / path).exists()
        case [name] if re.fullmatch(r"(data|model|training|decoding)(\.(?!py$)\w+)+", name):
            is_module = (ROOT / "regard" / name.replace(".", "/")).with_suffix(".py").exists()
            return not is_module and name not in recipe_options()
    return False


def unknown_mentions(text: str) -> list[str]:
    return [span for span in spans(text) if is_unknown(span)]


def missing_links(path: Path) -> list[str]:
    """Return a document's links and pictures that lead to no file, or to no heading in it."""
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
        place, _, heading = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = (path.parent / place).resolve() if place else path
        headings = re.findall(r"^#+ (.+)$", text_of(target), re.MULTILINE) if heading and target.is_file() else []
        if not target.exists() or (heading and heading not in [title.lower().replace(" ", "-") for title in headings]):
            missing.append(link)
    return missing


@pytest.fixture(params=DOCUMENTS, ids=name_of)
def document(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_every_command_line_parses(document: Path) -> None:
    for arguments in command_lines(text_of(document)):
        try:
            settings = parsed(arguments).get("settings") or []
            if arguments[0] == "translate":  # these belong to the search
                settings = [f"decoding.{setting}" for setting in settings]
            named = [recipe for recipe in RECIPES if recipe.stem in arguments and arguments[0] == "train"]
            check_recipe(apply_settings(read_table([*named, TRANSLATOR][0]), settings))
        except (typer.TyperException, Fault) as error:
            pytest.fail(f"regard {shlex.join(arguments)}: {getattr(error, 'message', error)}")


def test_the_commands_that_follow_the_lectures_parse() -> None:
    """These commands stand whole in tables, where other pages name commands in passing."""
    commands = [span for span in spans(text_of(ROOT / "docs" / "lectures.md")) if span.startswith("regard ")]
    assert len(commands) > 40
    for command in commands:
        [arguments] = commands_in(command)
        settings = parsed(arguments).get("settings") or []
        named = [recipe for recipe in RECIPES if recipe.stem in arguments]
        assert named or arguments[0] not in ("train", "compare"), command
        if arguments[0] == "train":
            check_recipe(apply_settings(read_table(named[0]), settings))
        for varied in parsed(arguments).get("vary") or []:
            option, _, values = varied.partition("=")
            for value in values.split(","):
                check_recipe(apply_settings(read_table(named[0]), [*settings, f"{option}={value}"]))


def test_the_readme_shows_the_central_job() -> None:
    shown = {arguments[0] for arguments in command_lines(text_of(ROOT / "README.md"))}
    assert {"train", "evaluate", "translate", "look", "info"} <= shown


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("regard trian demo", "No such command 'trian'"),
        ("echo text | .venv/bin/regard translate runs/demo --bean 4", "No such option: --bean"),
        ("REGARD_DATA=here regard data get  # a name is missing", "Missing"),
        ("cd runs && regard info demo --length long > out.txt", "valid integer"),
        ("regard evaluate runs/demo --split train", "not one of"),
    ],
)
def test_a_wrong_command_line_is_found(line: str, wrong: str) -> None:
    [arguments] = command_lines(f"```sh\n{line}\n```\n")
    with pytest.raises(typer.TyperException, match=wrong):
        parsed(arguments)


def test_what_surrounds_a_command_is_not_part_of_it() -> None:
    line = (
        "X=1 regard look runs/demo --text 'a | b' | head -n 1 && .venv/bin/regard info runs/demo > it.txt # regard no"
    )
    assert list(commands_in(line)) == [["look", "runs/demo", "--text", "a | b"], ["info", "runs/demo"]]
    assert list(command_lines("```console\n$ regard recipes \\\n    demo\n```\n")) == [["recipes", "demo"]]
    assert parsed(["look", "runs/demo", "--text", "a | b"])["text"] == "a | b"


@pytest.mark.parametrize("path", [*DOCUMENTS, *RECIPES], ids=name_of)
def test_no_sentence_mentions_what_does_not_exist(path: Path) -> None:
    assert unknown_mentions(text_of(path)) == []


@pytest.mark.parametrize(
    "span",
    [
        "regard fly",
        "regard train --gpus 2",
        "regard data fetch",
        "--engines",
        "make everything",
        "training.stepps",
        "regard/nothing.py",
    ],
)
def test_a_mention_of_nothing_is_found(span: str) -> None:
    assert unknown_mentions(f"Type `{span}` now.\n```\nregard nothing\n```\n") == [span]


def test_every_block_of_code_is_closed(document: Path) -> None:
    assert open_fences(text_of(document)) == []


def test_an_unclosed_block_is_found() -> None:
    assert open_fences("```sh\nmake\n```\n- so:\n  ```\n  x\n  ```\n") == []
    assert open_fences("```sh\nmake\n") == ["```sh"]
    assert open_fences("```sh\nmake\n\n```python\nx = 1\n```\n") == ["```sh"]


def test_every_link_and_picture_is_there(document: Path) -> None:
    assert missing_links(document) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One two\n[a](#one-two) [b](#three) ![c](none.png) [d](https://example.org) [e](page.md)\n")
    assert missing_links(page) == ["#three", "none.png"]


def test_the_python_of_the_readme_runs(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained, tmp_path / "runs" / "demo", ignore=shutil.ignore_patterns("training"))
    monkeypatch.chdir(tmp_path)
    for block in blocks(text_of(ROOT / "README.md"), "python"):
        exec(compile(block, "README.md", "exec"), {})
    assert "decoder.0.cross.look target source (1, 2, " in capsys.readouterr().out


def test_all_python_compiles_and_names_what_regard_has(document: Path) -> None:
    for block in blocks(text_of(document), "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "regard":
                assert hasattr(regard, node.attr)
            if isinstance(node, ast.Import | ast.ImportFrom):
                code = ast.unparse(node)
                if code.split()[1].partition(".")[0] not in ELSEWHERE:
                    exec(code, {})


def check_any(table: dict[str, Any]) -> None:
    """Refuse a bad recipe, or a comparison with a bad variant."""
    if "compare" in table:
        make_plan(table, "comparison")
    else:
        check_recipe(table)


def test_every_recipe_shown_is_a_good_one(document: Path) -> None:
    for block in blocks(text_of(document), "toml"):
        check_any(tomllib.loads(block))


@pytest.mark.parametrize("path", RECIPES, ids=name_of)
def test_every_recipe_is_good_and_says_what_it_is(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "nothing"))
    assert text_of(path).startswith("# ")
    check_any(read_table(path))


def test_the_page_of_families_is_what_the_tables_say() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_families_page.py"))
    remedy = "run `.venv/bin/python docs/make_families_page.py > docs/families.md`"
    assert script["page"]() == text_of(ROOT / "docs" / "families.md"), remedy


def test_every_document_stands_once_in_the_order_of_the_site() -> None:
    build = runpy.run_path(str(ROOT / "docs" / "site" / "build.py"))
    pages = Counter(pages_in(tomllib.loads(text_of(ROOT / "docs" / "site" / "zensical.toml"))["project"]["nav"]))
    documents = {path.name for path in (ROOT / "docs").glob("*.md")} | set(build["AT_THE_ROOT"].values())
    assert pages == dict.fromkeys(documents, 1)


def pages_in(entry: Any) -> Iterator[str]:
    """Return the pages of an entry of the site's navigation."""
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from pages_in(inner)


def test_the_page_of_options_is_what_the_options_say() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_recipes_page.py"))
    remedy = "run `.venv/bin/python docs/make_recipes_page.py > docs/recipes.md`"
    assert script["page"]() == text_of(ROOT / "docs" / "recipes.md"), remedy


def entries(text: str) -> list[str]:
    """Return the words that a glossary explains."""
    heads = re.findall(r"^- \*\*(.+?)\*\*: .+[.]$", text, re.MULTILINE)
    return [word for head in heads for word in head.split(", ")]


def test_every_word_is_explained_once_in_one_line() -> None:
    text = text_of(ROOT / "docs" / "words.md")
    counts = Counter(entries(text))
    assert [word for word, count in counts.items() if count > 1] == []
    assert len(re.findall(r"^- .*$", text, re.MULTILINE)) == len(
        re.findall(r"^- \*\*.+?\*\*: .+[.]$", text, re.MULTILINE)
    )
    assert all(line.startswith(("- ", "#", "One word")) for line in text.splitlines() if line)


def test_a_word_explained_twice_would_be_found() -> None:
    assert Counter(entries("- **row**: a.\n- **line, row**: b.\n"))["row"] == 2
