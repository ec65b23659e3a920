"""The gates of a recurrent model word by word, for `regard look` and `regard show gates`."""

from pathlib import Path

from regard.console import say_table
from regard.loading import Loaded
from regard.seeing.lessons.gates import gates_of
from regard.viewing.gates import DrawnGates, Gates, gates_table
from regard.viewing.view import View


def show_gates(model: Loaded, text: str, layer: int | None, out: Path | None, by_word: bool) -> set[str]:
    """Print the gates over a text, or write the kind of file that is asked for; gives what no font here can draw."""
    gates = gates_of(model, text, layer, by_word=by_word)
    if out is not None:
        return View(text, DrawnGates(gates)).write(out)
    say_gates(gates, "word" if by_word else "token")
    return set()


def say_gates(gates: Gates, heading: str) -> None:
    """A line for each word: the means of the gates, and what would be answered there."""
    say_table(*gates_table(gates, heading))
