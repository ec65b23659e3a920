"""The gates of a recurrent model word by word, for `regard look` and `regard show gates`."""

import json
from pathlib import Path

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.cli.console import say_table
from regard.model import Model
from regard.seeing.lessons.gates import gates_of
from regard.viewing.canvas import show_word
from regard.viewing.gates import Gates, draw_gates, gates_to_json


def show_gates(model: Model, text: str, layer: int | None, out: Path | None, by_word: bool) -> set[str]:
    """Print the gates over a text, or write the kind of file that is asked for; gives what no font here can draw."""
    gates = gates_of(model, text, layer, by_word=by_word)
    if out is None:
        say_gates(gates, "word" if by_word else "token")
    elif out.suffix.lower() == ".json":
        write_file(out, (json.dumps(gates_to_json(gates), ensure_ascii=False, indent=1) + "\n").encode())
    elif out.suffix.lower() == ".html":
        raise Fault("This model has no attention, and its gates have no page; name a .png, an .svg or a .json.")
    else:
        return draw_gates(gates, out)
    return set()


def say_gates(gates: Gates, heading: str) -> None:
    """A line for each word: the means of the gates, and what would be answered there."""
    columns = gates.means | {show_word(name): course for name, course in gates.answers.items()}
    cells = [[f"{value:.2f}" for value in course] for course in columns.values()]
    say_table([heading, *columns], list(zip(map(show_word, gates.words), *cells, strict=True)))
