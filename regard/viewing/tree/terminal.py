"""The beam as a tree in a terminal, as wide as there is room; steps that do not fit follow under the others."""

from collections.abc import Iterator

from regard.viewing.canvas import show_word
from regard.viewing.tree.lanes import lanes
from regard.viewing.tree.record import Tree
from regard.viewing.written import cell_len, fit_text, signed_number, visible

_MARKS = {"dropped": " ×", "open": " …"}
_LEGEND = "#1 the best output, #2 the next   × dropped   … unfinished at the end"
_GAP, _TAIL = 4, 2  # cells before a column, and at least behind a token
_BRIGHT, _BLUE, _DIM, _PLAIN = "\x1b[1;36m", "\x1b[34m", "\x1b[2m", "\x1b[0m"


def tree_lines(tree: Tree, width: int, colour: bool) -> list[str]:
    """The lines of a tree, at most `width` cells wide, then its outputs in full.

    Behind a token stands the sum of log-probabilities so far, behind an end the score of the output. With `colour`,
    what leads to the best output stands out, and what leads to none is dim.
    """
    grid = _Grid(tree, width, colour)
    lines = [line for part in grid.parts(width) for line in grid.lines(part)]
    nodes = [tree.nodes[place] for place in tree.outputs]
    outputs = [f"#{node.rank} {signed_number(node.score or 0.0):>7}  {show_word(node.text)}" for node in nodes]
    return [*lines, fit_text(_LEGEND, width), *outputs]


class _Grid:
    """A tree as cells of text: in each lane and column a token, and before it the lines that lead to it."""

    def __init__(self, tree: Tree, width: int, colour: bool) -> None:
        self.tree, self.colour, self.lane_of = tree, colour, lanes(tree)
        most = max(width - _GAP - _TAIL, 2)
        self.texts = [fit_text(self._text(place), most) for place in range(len(tree.nodes))]
        self.widths = [0] * max(tree.steps)
        self.nodes: dict[tuple[int, int], int] = {}  # by lane and column
        for place, step in enumerate(tree.steps):
            self.nodes[self.lane_of[place], step - 1] = place
            self.widths[step - 1] = max(self.widths[step - 1], cell_len(self.texts[place]) + _TAIL)
        self.links = dict(self._links())

    def _text(self, place: int) -> str:
        node = self.tree.nodes[place]
        rank = "" if node.rank is None else f" #{node.rank}"
        number = signed_number(node.total if node.score is None else node.score)
        return f"{visible(node.token)} {number}{rank}{_MARKS.get(self.tree.fates[place], '')}"

    def _links(self) -> Iterator[tuple[tuple[int, int], tuple[str, int]]]:
        """What stands in the gap before a column, lane by lane, and the hypothesis that it leads to."""
        for parent, children in self.tree.children.items():
            by_lane = {self.lane_of[child]: child for child in children}
            if not by_lane:
                continue
            column = 0 if parent is None else self.tree.steps[parent]
            first, last = min(by_lane), max(by_lane)
            below = -1
            for lane in range(last, first - 1, -1):
                below = by_lane.get(lane, below)
                sign = "│ " if lane not in by_lane else "└─" if lane == last else "├─"
                if lane == first:
                    sign = "┬─" if first < last else "──"
                yield (lane, column), (f"{'─' if lane == first and column else ' '}{sign} ", below)

    def parts(self, width: int) -> Iterator[range]:
        """Columns that stand beside each other."""
        start = room = 0
        for column, needed in enumerate(self.widths):
            if column > start and room + needed + _GAP > width:
                yield range(start, column)
                start, room = column, 0
            room += needed + _GAP
        yield range(start, len(self.widths))

    def lines(self, columns: range) -> Iterator[str]:
        heads = (f"{'':{_GAP}}{column + 1:<{self.widths[column]}}" for column in columns)
        yield self._style("".join(heads).rstrip(), None)
        for lane in range(max(self.lane_of) + 1):
            if any((lane, column) in self.nodes for column in columns):
                yield "".join(part for column in columns for part in self._cell(lane, column)).rstrip()

    def _cell(self, lane: int, column: int) -> Iterator[str]:
        link, child = self.links.get((lane, column), (" " * _GAP, None))
        yield self._style(link, child)
        place = self.nodes.get((lane, column))
        text = "" if place is None else self.texts[place]
        spare = self.widths[column] - cell_len(text)
        yield self._style(text, place)
        goes_on = place is not None and bool(self.tree.children[place])
        yield self._style(f" {'─' * (spare - 1)}" if goes_on else " " * spare, place)

    def _style(self, text: str, place: int | None) -> str:
        if not self.colour or not text.strip():
            return text
        if place is not None and place in self.tree.winning:
            return f"{_BRIGHT}{text}{_PLAIN}"
        return f"{_BLUE if place is not None and place in self.tree.lasting else _DIM}{text}{_PLAIN}"
