"""Tables of plain text."""

from collections.abc import Sequence


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The plain table: columns aligned by the cells they fill on a screen, numbers to the right."""
    from rich.cells import cell_len  # the help of the command line imports this module, and stays without it

    lines = [list(columns), *map(list, rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    right = [holds_numbers(rows, place) for place in range(len(columns))]

    def pad(text: str, place: int) -> str:
        gap = " " * (widths[place] - cell_len(text))
        return gap + text if right[place] else text + gap

    return ["  ".join(pad(text, place) for place, text in enumerate(line)).rstrip() for line in lines]


def holds_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Whether a column has numbers alone, which stand to the right."""
    return bool(rows) and all(row[place][:1].isdigit() or row[place][:1] in ("-", "") for row in rows)
