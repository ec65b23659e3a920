"""Prints docs/python.md from the docstrings: `.venv/bin/python docs/make_python_page.py > docs/python.md`."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any

import regard
from regard.answers import Answer, Tags, TextVectors
from regard.attention import Attention, Causal, Lengths, Packed, Window
from regard.attention.scores import Additive, Bilinear, Location
from regard.attention.watch import Gaze, Gazes, Windows, watching
from regard.engines.translated import Translated
from regard.loading import Loaded
from regard.metrics import Score, score
from regard.runs.compare.report import Comparison
from regard.verbs.generate.generated import Generated
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.scoring import ScoredText
from regard.verbs.translate.model import TranslationModel
from regard.verbs.words.lexicon import NeighboursOfWord, SolvedAnalogy
from regard.viewing.seen import Seen
from regard.viewing.view import View

HEAD = """# The Python interface

<!-- Made by docs/make_python_page.py from the docstrings; change those, not this page. -->

```python
import regard

model = regard.load("runs/demo")
model.translate(["I love books."])
model.look("I love books.").save("books.png")
```

What is wrong with something given is a `regard.Fault`, whose sentences say what it is and what to do; an argument of a
wrong type is a `TypeError`. Most results show themselves: by a short line in a terminal, and in a notebook by a view
that needs nothing from elsewhere. Everything is typed; a `File` is a path, as text or as a `Path`.

The [tutorial](tutorial.ipynb) is a notebook that goes through most of this in an hour. It can be read with its outputs
as it is; to run it, type in the folder of `regard`:

```sh
pip install '.[notebook]'
jupyter lab docs/tutorial.ipynb
```
"""
# What stands on the page: a heading, a sentence, and functions and classes with those of their methods that are public.
SECTIONS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Doors", "", (regard.load, regard.train, regard.distil, regard.evaluate, regard.compare, regard.Fault)),
    ("Every model", "What `regard.load` and `regard.train` give.", (regard.Model,)),
    ("A translator", "It has these besides.", (TranslationModel,)),
    ("A language model", "It has these besides.", (LanguageModel,)),
    (
        "What models give",
        "",
        (
            Translated,
            Generated,
            ScoredText,
            Answer,
            Tags,
            TextVectors,
            NeighboursOfWord,
            SolvedAnalogy,
            Score,
            Comparison,
        ),
    ),
    ("What can be seen", "", (View, watching, Gaze, Gazes, Windows, Seen)),
    ("Scores of texts", "`from regard.metrics import score`", (score,)),
    (
        "Attention by itself",
        "`from regard.attention import Attention, Causal, Lengths, Packed, Window`; scores: `regard.attention.scores`.",
        (Attention, Causal, Lengths, Window, Packed, Additive, Bilinear, Location),
    ),
)
# Methods for the commands and the server, and those that a language model has in a fuller form.
LEFT_OUT = {
    regard.Model: ("named_modules", "ask", "generate"),
    TranslationModel: (
        "has_tokens_of",
        "plan",
        "wordings",
        "force",
        "force_watched",
        "search_tokens",
        "align",
        "looks",
    ),
    LanguageModel: ("generate_by", "generate_aloud", "read_prompt"),
    View: ("write",),
}
_WIDEST = 100  # columns of a signature on one line


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for heading, sentence, things in SECTIONS:
        parts += [f"## {heading}", sentence]
        for thing in things:
            parts += of_class(thing) if inspect.isclass(thing) else of_function(thing)
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).rstrip() + "\n"


def of_function(function: Callable[..., Any]) -> Iterator[str]:
    """A function: its signature and its docstring."""
    yield f"### `{function.__name__}`"
    yield signature(function)
    yield docstring(function)


def of_class(kind: type) -> Iterator[str]:
    """A class: its docstring, its fields, and its own properties and methods."""
    yield f"### `{kind.__name__}`"
    yield docstring(kind)
    ours = (base for base in reversed(kind.__mro__) if base.__module__.startswith("regard."))
    bases = [base for base in ours if base is not Loaded or kind is regard.Model]  # what all models have is told once
    if is_dataclass(kind) and (rows := [row for base in bases for row in field_rows(base)]):
        yield "\n".join(["| field | type | |", "| --- | --- | --- |", *rows])
    public = {name: member for base in bases for name, member in vars(base).items() if not name.startswith("_")}
    members = {name: member for name, member in public.items() if name not in LEFT_OUT.get(kind, ())}
    yield "\n".join(f"- `.{name}`: {' '.join(docstring(each).split())}" for name, each in getters(members))
    for member in members.values():
        if inspect.isfunction(member) and member.__doc__:
            yield signature(member)
            yield docstring(member)


def getters(members: dict[str, Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The properties that say what they are."""
    for name, member in members.items():
        getter = member.fget if isinstance(member, property) else getattr(member, "func", None)
        if isinstance(member, property | cached_property) and getter.__doc__:
            yield name, getter


def field_rows(kind: type) -> Iterator[str]:
    """The fields of a dataclass with their types, and the comment beside each."""
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    for each in definition.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.target.id.startswith("_"):
            comment = lines[(each.end_lineno or each.lineno) - 1].partition("  # ")[2]
            kind_of = ast.unparse(each.annotation).replace("|", "\\|")
            if not kind_of.startswith("ClassVar"):
                yield f"| `{each.target.id}` | `{kind_of}` | {comment} |"


def signature(function: Callable[..., Any]) -> str:
    """The head of a function as its source has it, one argument a line where it is long; quoted types are unquoted."""
    (head,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(head, ast.FunctionDef)
    gives = f" -> {written(head.returns)}" if head.returns else ""
    arguments = list(arguments_of(head.args))
    text = f"{head.name}({', '.join(arguments)}){gives}"
    if len(text) > _WIDEST:
        lines = "".join(f"    {each},\n" for each in arguments)
        text = f"{head.name}(\n{lines}){gives}"
    return f"```python\ndef {text}: ...\n```"


def arguments_of(arguments: ast.arguments) -> Iterator[str]:
    """Each argument with its type and default, but for the object that a method belongs to."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [(each, default) for each, default in zip(positional, defaults, strict=True) if each.arg != "self"]
    yield from (_argument(*pair) for pair in pairs)
    if arguments.kwonlyargs:
        yield "*"
    yield from map(_argument, arguments.kwonlyargs, arguments.kw_defaults)


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {written(argument.annotation)}" if argument.annotation else ""
    return f"{argument.arg}{kind}" + ("" if default is None else f" = {written(default, quoted=True)}")


def written(expression: ast.expr, quoted: bool = False) -> str:
    """An expression as our sources spell it; a type that is quoted there to be read later, without its quotes."""
    text = ast.unparse(expression)
    if not quoted and isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        text = expression.value
    return re.sub(r"'([A-Z]\w+)'", r"\1", text).replace("'", '"')


def docstring(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


if __name__ == "__main__":
    sys.stdout.write(page())
