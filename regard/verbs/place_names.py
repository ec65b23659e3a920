"""Names for the places of watched attention: the tokens of both sides, row by row."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.attention.watch import Names, name_places
from regard.viewing.looks import names_along
from regard.viewing.sides import Nodes, Side


def name_rows(since: int, rows: Sequence[Mapping[str, Side]]) -> None:
    """Name the places of all gazes after the first `since`, given the sides of every row."""

    def names(side: str, other: str) -> Names:
        names_by_row = [names_along(row[side], row.get(other, row[side])) for row in rows if side in row]
        return names_by_row if len(names_by_row) == len(rows) and all(names_by_row) else ()

    name_places(since, names)


def name_answers(task: Any, batches: Sequence[Any], answers: Sequence[Any], since: int) -> None:
    """Name the places after a task has answered, given a one-row batch and an answer for each input."""
    rows: list[Mapping[str, Side]] = []
    for batch, answer in zip(batches, answers, strict=True):
        rows.append(task.sides(batch, [answer]))
        if any(isinstance(side, Nodes) for side in rows[0].values()):
            break  # all answers share one graph
    name_rows(since, rows)
