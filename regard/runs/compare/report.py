"""A comparison as people see it: in a terminal, in a notebook, and saved as the name of a file asks for."""

from html import escape
from pathlib import Path

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.notebook import paragraph
from regard.base.notebook import table as in_notebook
from regard.runs.compare import page
from regard.runs.compare.findings import Findings
from regard.runs.compare.formats import text_for
from regard.viewing.written import table_lines


class Comparison(Findings):
    """All that a comparison found, on `sentences` of `split`, `jobs` runs at once, and what failed on the way."""

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """The columns and rows that people see, as text."""
        return page.table(self)

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Save the table as the suffix of the file asks: .tex, .csv, .md or .json; an existing file is refused."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise Fault(f"{path} exists already; give overwrite=True to replace it.")
        write_file(path, text_for(self, path).encode())
        return path

    def __repr__(self) -> str:
        return "\n".join([self.title, *table_lines(*self.table), *map(str, self.failures)])

    def _repr_html_(self) -> str:
        columns, rows = self.table
        below = [*page.notes(self), *(f"This run failed: {failure}" for failure in self.failures)]
        cells = [[escape(cell) for cell in row] for row in rows]
        return in_notebook(cells, columns) + "".join(paragraph(line, light=True) for line in below)
