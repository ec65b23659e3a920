"""A beam search drawn as a tree: steps from left to right, the best output on top, and branches below."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.base.faults import Fault
from regard.viewing.canvas import (
    FAINT,
    INK,
    canvas,
    check_suffix,
    missing_glyphs,
    runs_leftwards,
    save_figure,
    show_word,
    word_widths,
)
from regard.viewing.hypotheses import Fate, Node, Tree, lanes, tree_to_json
from regard.viewing.sealed import SealedPage, named_language
from regard.viewing.written import cell_len, fit_text, signed_number, visible, visible_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("page.css", "tree.css")
SCRIPT = "tree-page.js"
MOST_NODES = 5000  # a browser lays out this many in a second
_SIZE, _SMALL = 10.0, 7.0  # points of a token, and of the number below it
_LANE, _BOX = 0.47, 0.24  # inches from lane to lane, and height of a token
_GAP = 0.3  # inches before each column, in which links bend
_AIR = 0.07  # inches around a token in its box
_WIDE, _LEAST = 22.0, 0.6  # inches above which everything shrinks, and the limit
_WIDEST = 200.0  # inches of a .png that viewers can open
_SOFT = "#6b7480"
_BLUE, _PALE, _ORANGE = "#1f5fa8", "#dde9f6", "#c45c16"
_MARKS = {"dropped": " ×", "open": " …"}
_LEGEND = "#1 the best output, #2 the next   × dropped   … unfinished at the end"
_BEFORE, _TAIL = 4, 2  # cells before a column, and minimum cells after a token
_BRIGHT, _BLUE_INK, _DIM, _PLAIN = "\x1b[1;36m", "\x1b[34m", "\x1b[2m", "\x1b[0m"


def tree_page(tree: Tree, languages: tuple[str, str] = ("", "")) -> SealedPage:
    """Return the page of a tree; refuse one that is too large for browsers.

    The languages of source and target let a browser shape and read the texts correctly.
    """
    if len(tree.nodes) > MOST_NODES:
        raise Fault(
            f"A page of this beam would hold {len(tree.nodes):,} hypotheses, but the limit is {MOST_NODES:,}; give a "
            "shorter sentence or a narrower beam, or write a .json."
        )
    return SealedPage(SCRIPT, STYLES, tree_data(tree, languages))


def tree_data(tree: Tree, languages: tuple[str, str]) -> dict[str, Any]:
    """Return the data of the view: every hypothesis with its lane and fate."""
    source, target = map(named_language, languages)
    best = [show_word(tree.nodes[place].text) for place in tree.outputs]
    return {
        "source": {"text": show_word(tree.source), "language": source},
        "target": {"text": best[0] if best else "", "language": target},
        "width": tree.width,
        "leftwards": runs_leftwards(best),
        "outputs": tree.outputs,
        "lanes": {"all": lanes(tree), "outputs": _lanes_of_outputs(tree)},
        "nodes": [
            {
                "token": visible(node.token),
                "parent": node.parent,
                "step": step,
                "log_probability": round(node.log_probability, 4),
                "total": round(node.total, 4),
                "score": None if node.score is None else round(node.score, 4),
                "rank": node.rank,
                "fate": fate,
                "text": show_word(node.text) if node.text else "",
            }
            for node, step, fate in zip(tree.nodes, tree.steps, tree.fates, strict=True)
        ],
    }


def _lanes_of_outputs(tree: Tree) -> list[int | None]:
    """Return the lanes of the tree reduced to what led to its outputs."""
    if not tree.outputs:
        return list(lanes(tree))
    places_kept = sorted(tree.lasting)
    new = {old: place for place, old in enumerate(places_kept)}
    parents = [tree.nodes[old].parent for old in places_kept]
    pruned = [
        replace(tree.nodes[old], parent=None if parent is None else new[parent])
        for old, parent in zip(places_kept, parents, strict=True)
    ]
    lane_of = dict(zip(places_kept, lanes(Tree(tree.source, tree.width, pruned)), strict=True))
    return [lane_of.get(place) for place in range(len(tree.nodes))]


class _Box(NamedTuple):
    """Style of the box around a token."""

    fill: str
    edge: str
    ink: str


_BOXES: dict[Fate, _Box] = {
    "won": _Box(_BLUE, _BLUE, "white"),
    "kept": _Box(_PALE, _BLUE, INK),
    "outdone": _Box("#fbeee4", _ORANGE, INK),
    "continued": _Box("white", FAINT, INK),
    "dropped": _Box("#f1f2f4", "#f1f2f4", _SOFT),
    "open": _Box("white", FAINT, _SOFT),
}


_LINK, _LASTING, _FADED = (
    _BLUE,
    "#8fb2d9",
    "#d5d8dc",
)  # colours of links to the best output, to other outputs, and to none


_KEY: dict[Fate, str] = {
    "won": "best output",
    "kept": "other outputs",
    "outdone": "finished, outdone",
    "dropped": "dropped",
    "open": "unfinished at the end",
}


_CAPTION = (
    "Below a token is the sum of log-probabilities so far, below an end the score of the output. "
    "The width of a link is the probability of its token."
)


@dataclass(frozen=True)
class TreeLayout:
    """Places in inches: the edges of each column, the entry edge first, and each node's height."""

    columns: list[tuple[float, float]]
    heights: list[float]
    width: float
    root: float  # where the tree begins


def lay_out(tree: Tree) -> TreeLayout:
    """Return a column for each step, as wide as its widest token, and a lane for each branch; mirrored if read so."""
    tokens = word_widths([visible_name(node.token) for node in tree.nodes], _SIZE)
    numbers = word_widths([_number(node) for node in tree.nodes], _SMALL)
    widths = [0.0] * max(tree.steps)
    for step, token, number in zip(tree.steps, tokens, numbers, strict=True):
        widths[step - 1] = max(widths[step - 1], token + 2 * _AIR, number)
    ends = list(accumulate(width + _GAP for width in widths))
    columns = [(end - width, end) for end, width in zip(ends, widths, strict=True)]
    whole, root = ends[-1], 0.0
    if runs_leftwards(tree.nodes[place].text for place in tree.outputs):
        columns, root = [(whole - left, whole - right) for left, right in columns], whole
    return TreeLayout(columns, [-_LANE * lane for lane in lanes(tree)], whole, root)


def _number(node: Node) -> str:
    return signed_number(node.total if node.score is None else node.score)


def draw_tree(tree: Tree, path: Path) -> set[str]:
    """Draw the tree with the outputs below it; return the characters that no font here can draw."""
    check_suffix(path)
    texts = [
        tree.source,
        *(visible_name(node.token) for node in tree.nodes),
        *(tree.nodes[n].text for n in tree.outputs),
    ]
    with canvas(texts) as new_figure:
        layout = lay_out(tree)
        shrunk = min(1.0, max(_WIDE / layout.width, _LEAST))
        if path.suffix.lower() == ".png" and layout.width * shrunk > _WIDEST:
            steps = max(tree.steps)
            raise Fault(
                f"A beam of {steps} steps is too wide for a .png; write an .svg or .html, which can be scrolled."
            )
        height = _LANE - min(layout.heights)
        figure = new_figure(figsize=(layout.width * shrunk, height * shrunk))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, layout.width), ylim=(_LANE - height, _LANE))
        axes.set_axis_off()
        drawing = _TreeDrawing(axes, tree, layout, shrunk)
        drawing.draw_links()
        drawing.draw_nodes()
        drawing.write_frame()
        save_figure(figure, path)
    return missing_glyphs(texts)


class _TreeDrawing:
    """A tree on its axes, in inches before shrinking."""

    def __init__(self, axes: "Axes", tree: Tree, layout: TreeLayout, shrunk: float) -> None:
        self.axes, self.tree, self.layout, self.shrunk = axes, tree, layout, shrunk

    def write(self, text: str, place: tuple[float, float], size: float, **style: Any) -> None:
        """Write text at a place; dollar signs in it are not mathematics."""
        how = {"color": INK, "va": "center_baseline", **style}
        self.axes.text(*place, text, fontsize=size * self.shrunk, parse_math=False, clip_on=False, **how)

    def draw_links(self) -> None:
        """Draw the links, with those that lead to outputs on top."""
        tree = self.tree
        for place in sorted(range(len(tree.nodes)), key=lambda place: (place in tree.lasting, place in tree.winning)):
            self._draw_link(place)
        self.axes.plot([self.layout.root], [0], "o", markersize=6 * self.shrunk, color=_BLUE, clip_on=False)

    def _draw_link(self, place: int) -> None:
        """Draw a curve from parent to child that bends in the gap before the child's column."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Curve

        tree, layout = self.tree, self.layout
        node, column = tree.nodes[place], tree.steps[place] - 1
        x1 = layout.columns[column - 1][1] if column else layout.root
        x2, middle = layout.columns[column][0], (x1 + layout.columns[column][0]) / 2
        y1, y2 = 0.0 if node.parent is None else layout.heights[node.parent], layout.heights[place]
        curve = Curve([(x1, y1), (middle, y1), (middle, y2), (x2, y2)], [Curve.MOVETO, *[Curve.CURVE4] * 3])
        colour = _LINK if place in tree.winning else _LASTING if place in tree.lasting else _FADED
        width = (0.7 + 2.3 * exp(min(node.log_probability, 0.0))) * self.shrunk
        patch = PathPatch(curve, fill=False, color=colour, linewidth=width, clip_on=False)
        patch.set_gid(f"link-{place}")  # its name in an SVG
        self.axes.add_patch(patch)

    def draw_nodes(self) -> None:
        outwards, side = (0.06, "left") if self.layout.root == 0 else (-0.06, "right")
        for place, (node, fate) in enumerate(zip(self.tree.nodes, self.tree.fates, strict=True)):
            look: Fate = "won" if place in self.tree.winning else fate
            (first, last), height = self.layout.columns[self.tree.steps[place] - 1], self.layout.heights[place]
            centre = (first + last) / 2
            self._draw_box(min(first, last), height, abs(last - first), look)
            self.write(visible_name(node.token), (centre, height), _SIZE, ha="center", color=_BOXES[look].ink)
            style = {"color": _SOFT} if node.score is None else {"fontweight": "bold"}
            self.write(_number(node), (centre, height - _BOX / 2 - 0.015), _SMALL, ha="center", va="top", **style)
            if node.rank is not None:
                style_ = {"ha": side, "color": _BLUE, "fontweight": "bold"}
                self.write(str(node.rank), (last + outwards, height), _SIZE, **style_)

    def _draw_box(self, left: float, height: float, width: float, look: Fate) -> None:
        from matplotlib.patches import FancyBboxPatch

        box = FancyBboxPatch(
            (left, height - _BOX / 2),
            width,
            _BOX,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=_BOXES[look].fill,
            edgecolor=_BOXES[look].edge,
            linewidth=0.8 * self.shrunk,
            linestyle=(0, (2, 2)) if look == "open" else "-",
            clip_on=False,
        )
        self.axes.add_patch(box)

    def write_frame(self) -> None:
        """Write the source and the steps above, and the legend and the outputs below."""
        for number, (first, last) in enumerate(self.layout.columns, 1):
            self.write(str(number), ((first + last) / 2, 0.34), _SMALL, color=_SOFT, ha="center")
        source = textwrap.wrap(show_word(self.tree.source), max(60, int(12 * self.layout.width)))
        self.write("\n".join(source), (0, 0.58), 11, va="bottom", linespacing=1.4)
        height, along = min(self.layout.heights) - 1.1 * _LANE, 0.0
        fates = [fate for fate in _KEY if fate in self.tree.fates]
        for fate, width in zip(fates, word_widths([_KEY[fate] for fate in fates], 8), strict=True):
            self._draw_box(along, height, 0.2, fate)
            self.write(_KEY[fate], (along + 0.27, height), 8)
            along += width + 0.55
        caption = textwrap.wrap(_CAPTION, max(75, int(14 * self.layout.width)))
        self.write("\n".join(caption), (0, height - 0.22), 8, color=_SOFT, va="top", linespacing=1.4)
        for line, place in enumerate(self.tree.outputs):
            node, below = self.tree.nodes[place], height - 0.42 - 0.17 * len(caption) - 0.2 * line
            self.write(str(node.rank), (0.02, below), 9, color=_BLUE, fontweight="bold")
            self.write(_number(node), (0.75, below), 9, ha="right")
            self.write(show_word(node.text), (0.88, below), 9)


def tree_lines(tree: Tree, width: int, colour: bool) -> list[str]:
    """Return the lines of a tree, at most `width` cells wide, then its outputs.

    After a token comes the sum of log-probabilities so far, after an end the score of the output. With `colour`, the
    path to the best output stands out, and paths to no output are dim.
    """
    grid = _Grid(tree, width, colour)
    lines = [line for part in grid.parts(width) for line in grid.lines(part)]
    nodes = [tree.nodes[place] for place in tree.outputs]
    outputs = [f"#{node.rank} {signed_number(node.score or 0.0):>7}  {show_word(node.text)}" for node in nodes]
    return [*lines, fit_text(_LEGEND, width), *outputs]


class _Grid:
    """A tree as cells of text: a token in each lane and column, with the lines that lead to it before it."""

    def __init__(self, tree: Tree, width: int, colour: bool) -> None:
        self.tree, self.colour, self.lane_of = tree, colour, lanes(tree)
        most = max(width - _BEFORE - _TAIL, 2)
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
        """Yield the links in the gap before a column, lane by lane, with the hypothesis each leads to."""
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
        """Yield groups of columns that fit side by side."""
        start = room = 0
        for column, needed in enumerate(self.widths):
            if column > start and room + needed + _BEFORE > width:
                yield range(start, column)
                start, room = column, 0
            room += needed + _BEFORE
        yield range(start, len(self.widths))

    def lines(self, columns: range) -> Iterator[str]:
        heads = (f"{'':{_BEFORE}}{column + 1:<{self.widths[column]}}" for column in columns)
        yield self._style("".join(heads).rstrip(), None)
        for lane in range(max(self.lane_of) + 1):
            if any((lane, column) in self.nodes for column in columns):
                yield "".join(part for column in columns for part in self._cell(lane, column)).rstrip()

    def _cell(self, lane: int, column: int) -> Iterator[str]:
        link, child = self.links.get((lane, column), (" " * _BEFORE, None))
        yield self._style(link, child)
        place = self.nodes.get((lane, column))
        text = "" if place is None else self.texts[place]
        spare = self.widths[column] - cell_len(text)
        yield self._style(text, place)
        is_continued = place is not None and bool(self.tree.children[place])
        yield self._style(f" {'─' * (spare - 1)}" if is_continued else " " * spare, place)

    def _style(self, text: str, place: int | None) -> str:
        if not self.colour or not text.strip():
            return text
        if place is not None and place in self.tree.winning:
            return f"{_BRIGHT}{text}{_PLAIN}"
        return f"{_BLUE_INK if place is not None and place in self.tree.lasting else _DIM}{text}{_PLAIN}"


@dataclass(frozen=True)
class DrawnTree:
    """A tree as a drawing, with the languages of source and target."""

    tree: Tree
    languages: tuple[str, str] = ("", "")

    def draw(self, path: Path) -> set[str]:
        return draw_tree(self.tree, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return tree_lines(self.tree, width, colour)

    def numbers(self) -> dict[str, Any]:
        return tree_to_json(self.tree)

    def page(self) -> SealedPage:
        return tree_page(self.tree, self.languages)
