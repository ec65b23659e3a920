"""A comparison as people see it: in a terminal, in a notebook, or saved to a file."""

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
    """All findings of a comparison on `sentences` of `split`, made with `jobs` runs at once, and the runs that
    failed.
    """

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows that people see, as text."""
        return page.table(self)

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Save the table in the format that the file's suffix names: .tex, .csv, .md or .json.

        An existing file is refused unless `overwrite` is true.
        """
        path = Path(path)
        if path.exists() and not overwrite:
            raise Fault(f"{path} already exists; give overwrite=True to replace it.")
        write_file(path, text_for(self, path).encode())
        return path

    def __repr__(self) -> str:
        return "\n".join([self.title, *table_lines(*self.table), *map(str, self.failures)])

    def _repr_html_(self) -> str:
        columns, rows = self.table
        below = [*page.notes(self), *(f"This run failed: {failure}" for failure in self.failures)]
        cells = [[escape(cell) for cell in row] for row in rows]
        return in_notebook(cells, columns) + "".join(paragraph(line, light=True) for line in below)
