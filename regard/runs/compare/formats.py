"""A comparison as a file: Markdown, LaTeX, CSV or JSON, by the file's suffix."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.base.files import finite
from regard.runs.compare.findings import Findings
from regard.runs.compare.page import notes, page, table
from regard.viewing.written import holds_numbers

# Characters that LaTeX reads as commands or may not print in every font encoding; letters stay unchanged.
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "…": r"\ldots{}",
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
_NEGATIVE = re.compile(r"(?<![\w.])-(?=\d)")


def as_latex(comparison: Findings) -> str:
    """Return the table as a plain LaTeX tabular for \\input, with notes on how to read it in comments above."""
    columns, rows = table(comparison)
    sides = "".join("r" if holds_numbers(rows, place) else "l" for place in range(len(columns)))
    above = [f"% {line}" for line in (comparison.title, *notes(comparison))]
    body = [_latex_row(columns), r"\hline", *map(_latex_row, rows)]
    lines = [*above, rf"\begin{{tabular}}{{{sides}}}", r"\hline", *body, r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_NEGATIVE.sub("$-$", escape_latex(cell)) for cell in cells) + r" \\"


def escape_latex(text: str) -> str:
    """Escape a text so that LaTeX prints it literally."""
    return _SPECIAL.sub(lambda match: _LATEX[match[0]], " ".join(text.split()))


def as_csv(comparison: Findings) -> str:
    """Return a line per variant and metric, with all numbers unrounded; unknown values are empty."""
    file = io.StringIO()
    rows = comparison.rows
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(finite(row) for row in rows)
    return file.getvalue()


def as_json(comparison: Findings) -> str:
    """Return all numbers, as in comparison.json."""
    return json.dumps(finite(comparison.as_dict()), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Findings], str]] = {".md": page, ".tex": as_latex, ".csv": as_csv, ".json": as_json}


def check_format(file: Path) -> None:
    """Refuse a file whose suffix names no known format."""
    if file.suffix.lower() not in FORMATS:
        *others, last = FORMATS
        raise Fault(f"{file} is neither {', '.join(others)} nor {last}; the suffix chooses the format of the table.")


def text_for(comparison: Findings, file: Path) -> str:
    """Return the comparison in the format that the file's suffix names."""
    check_format(file)
    return FORMATS[file.suffix.lower()](comparison)
