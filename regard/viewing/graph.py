"""A neighbourhood in a graph: each head's attention in its own colour, wider and stronger for larger weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from regard.viewing.canvas import INK, canvas, check_suffix, missing_glyphs, save_figure, show_word, word_widths
from regard.viewing.looks import LooksBetween
from regard.viewing.neighbourhood import GraphLayout, Neighbourhood, lay_out, neighbourhood_of, strand, to_json
from regard.viewing.sealed import SealedPage, whole_steps
from regard.viewing.sides import Nodes
from regard.viewing.view import Drawing, DrawingRequest
from regard.viewing.written import cell_len, fit_text, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

STYLES = ("page.css", "graph.css")
SCRIPT = "graph-page.js"
# Colours of heads, distinct for any colour vision (Okabe and Ito 2008); classes have shapes and light tints.
HEAD_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#222222")
_SHAPES = ("o", "s", "^", "D", "v", "p", "h", "P", "X", "*")
_TINTS = ("#cfe3f3", "#f9d9bf", "#cdebdf", "#f3d9e6", "#fdf3c0", "#dcd6ee", "#e3e3e3", "#d6f0f5", "#ead9c8", "#ffffff")
_EDGE: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 1.0, "clip_on": False}
_LEVEL = 22  # number of nodes up to which their names are written level
_BRIGHT, _DIM, _PLAIN = "\x1b[1;36m", "\x1b[2m", "\x1b[0m"


def graph_data(neighbourhood: Neighbourhood, layer: int | None = None, head: int | None = None) -> dict[str, Any]:
    """Return the data of the view: places in a circle of radius 1, weights as whole ten-thousandths."""
    layout, (number, _) = lay_out(neighbourhood), neighbourhood.weights_of(layer, head)
    return {
        "start": {"layer": number, "head": head or "all"},
        "title": show_word(neighbourhood.title),
        "classes": [show_word(name) for name in neighbourhood.classes],
        "nodes": [
            {
                "name": show_word(node.name),
                "ring": node.ring,
                "answer": show_word(node.answer) if node.answer else "",
                "label": show_word(node.label) if node.label else "",
                "place": place,
            }
            for node, place in zip(neighbourhood.nodes, layout.places.round(4).tolist(), strict=True)
        ],
        "itself": layout.itself and [round(value, 4) for value in layout.itself],
        "outward": layout.outward,
        "room": round(layout.room, 4),
        "edges": neighbourhood.edges.tolist(),
        "hidden": neighbourhood.hidden,
        "blocks": [
            {"where": block.where, "heads": [whole_steps(head) for head in block.weights]}
            for block in neighbourhood.blocks
        ],
    }


def draw_neighbourhood(
    neighbourhood: Neighbourhood, path: Path, layer: int | None = None, head: int | None = None
) -> set[str]:
    """Draw one block, with all heads or one; return the characters that no font here can draw."""
    check_suffix(path)
    number, weights = neighbourhood.weights_of(layer, head)
    heads = list(range(len(weights))) if head is None else [head - 1]
    texts = [neighbourhood.title, *neighbourhood.classes, *(node.name for node in neighbourhood.nodes)]
    with canvas(texts) as new_figure:
        radius = float(np.interp(len(neighbourhood.nodes), [8, 61], [2.1, 3.6]))  # inches
        figure = new_figure(figsize=(2 * radius, 2 * radius))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-radius, radius), ylim=(-radius, radius))
        axes.set_axis_off()
        layout = lay_out(neighbourhood)
        _draw_looks(axes, neighbourhood, layout, radius, weights, heads)
        _draw_nodes(axes, neighbourhood, layout, radius)
        longest = _write_names(axes, neighbourhood, layout, radius)
        _write_legend(axes, neighbourhood, weights, heads, 1 + (longest + 0.25) / (2 * radius))
        block_name = f"block {number} of {len(neighbourhood.blocks)}" if len(neighbourhood.blocks) > 1 else ""
        _write_titles(axes, show_word(neighbourhood.title), block_name, neighbourhood.hidden)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_looks(
    axes: "Axes", record: Neighbourhood, layout: GraphLayout, radius: float, weights: np.ndarray, heads: Sequence[int]
) -> None:
    """Draw outward attention as bundles of curves, one per head, and other attention as one thin grey line."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    strongest = float(weights[heads].max(initial=0.0)) or 1.0
    room = min(layout.room, 0.16) * radius
    widest = float(np.clip(72 * room / len(heads) * 1.2, 2.2, 4.0))  # points
    codes = [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3]
    for edge, (looks_from, looks_at) in enumerate(record.edges.tolist()):
        end = layout.itself if (looks_from, looks_at) == (0, 0) else layout.places[looks_at]
        start = layout.places[looks_from]
        if not layout.outward[edge]:
            if looks_from != looks_at:  # attention of outer nodes to themselves would hide them
                share = float(weights[heads, edge].mean()) / strongest
                bow = strand(start, np.asarray(end), 1, 2, 0.3) * radius
                axes.add_patch(
                    PathPatch(Curve(bow, codes), fill=False, color="#888888", alpha=0.55 * share, linewidth=0.8)
                )
            continue
        for line, head in enumerate(heads):
            share = float(weights[head, edge]) / strongest
            bow = strand(start * radius, np.asarray(end) * radius, line, len(heads), room)
            style = {
                "color": head_colour(head),
                "alpha": 0.15 + 0.85 * share,
                "linewidth": 0.3 + (widest - 0.3) * share,
            }
            patch = PathPatch(Curve(bow, codes), fill=False, capstyle="round", zorder=1 + share, **style)
            patch.set_gid(f"look-{looks_from}-{looks_at}-{head + 1}")  # its name in an SVG
            axes.add_patch(patch)


def head_colour(head: int) -> str:
    """Return the colour of a head, counted from 0; after eight they repeat."""
    return HEAD_COLOURS[head % len(HEAD_COLOURS)]


def _draw_nodes(axes: "Axes", record: Neighbourhood, layout: GraphLayout, radius: float) -> None:
    size = float(np.interp(len(record.nodes), [10, 61], [15, 8]))
    for place, node in enumerate(record.nodes):
        shape, tint = _look_of(record, node.answer)
        marker_size = size * (1.5 if place == 0 else 1.0)
        spot = layout.places[place] * radius
        axes.plot(*spot, shape, markersize=marker_size, color=tint, zorder=5, **_EDGE)
        if node.is_mistaken:
            axes.plot(*spot, "x", markersize=marker_size * 0.45, color=INK, clip_on=False, zorder=6)
    if layout.itself:
        shape, tint = _look_of(record, record.centre.answer)
        spot = np.array(layout.itself) * radius
        axes.plot(*spot, shape, markersize=size, color=tint, alpha=0.45, zorder=5, **_EDGE)


def _look_of(record: Neighbourhood, answer: str) -> tuple[str, str]:
    if not answer:
        return _SHAPES[0], _TINTS[0]
    place = record.classes.index(answer)
    return _SHAPES[place % len(_SHAPES)], _TINTS[place % len(_TINTS)]


def _write_names(axes: "Axes", record: Neighbourhood, layout: GraphLayout, radius: float) -> float:
    """Write the names outside the ring, turned with it if there are many; return the inches of the longest."""
    count = len(record.nodes)
    size = float(np.interp(count, [12, 61], [9.5, 6.5]))
    gap = float(np.interp(count, [10, 61], [0.16, 0.11]))
    names = [(node.name, layout.places[place], "normal") for place, node in enumerate(record.nodes) if place]
    if layout.itself:
        names.append(("itself", np.array(layout.itself), "italic"))
    for name, place, slant in names:
        distance = float(np.hypot(*place))
        across, up = (place * radius + place / distance * gap).tolist()
        text = axes.text(
            across, up, show_word(name), fontsize=size, fontstyle=slant, color=INK, parse_math=False, zorder=7
        )
        if distance < 0.99:  # lines pass a name inside the ring
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6})
        angle = math.degrees(math.atan2(place[1], place[0]))
        leftwards = abs(angle) > 90
        if count <= _LEVEL or distance < 0.99:
            aligned = "center" if abs(place[0]) < 0.2 * distance else "left" if place[0] > 0 else "right"
            text.set(ha=aligned, va="center_baseline" if aligned != "center" else "bottom" if up > 0 else "top")
        else:
            turn = angle - 180 if leftwards else angle
            text.set(ha="right" if leftwards else "left", va="center_baseline", rotation=turn, rotation_mode="anchor")
    return gap + max(word_widths([name for name, _, _ in names], size), default=0.0)


def _write_legend(axes: "Axes", record: Neighbourhood, weights: np.ndarray, heads: Sequence[int], right: float) -> None:
    from matplotlib.lines import Line2D

    strongest = float(weights[list(heads)].max(initial=0.0))
    lines = [Line2D([], [], color=head_colour(head), linewidth=2.5, label=f"head {head + 1}") for head in heads] + [
        Line2D([], [], linestyle="", label=f"widest: {strongest:.2f}")
    ]
    nodes = []
    for name in record.classes:
        shape, tint = _look_of(record, name)
        nodes.append(
            Line2D(
                [], [], linestyle="", marker=shape, color=tint, markeredgecolor=INK, markersize=9, label=show_word(name)
            )
        )
    if any(node.is_mistaken for node in record.nodes):
        nodes.append(Line2D([], [], linestyle="", marker="x", color=INK, markersize=5, label="mistaken"))
    _place_legend(axes, lines, None, (right, 1.0), "upper left")
    if nodes:
        _place_legend(axes, nodes, "class", (right, 0.0), "lower left")


def _place_legend(
    axes: "Axes",
    handles: "Sequence[Line2D]",
    title: str | None,
    corner: tuple[float, float],
    anchor: Literal["upper left", "lower left"],
) -> None:
    """Place a legend next to the drawing, with its anchor at the corner; it belongs to the figure, so it is not cut."""
    legend = axes.figure.legend(
        handles=handles,
        title=title,
        loc=anchor,
        bbox_to_anchor=corner,
        bbox_transform=axes.transAxes,
        frameon=False,
        fontsize=8.5,
        title_fontsize=8.5,
        labelcolor=INK,
        borderaxespad=0,
        alignment="left",
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _write_titles(axes: "Axes", title: str, block_name: str, hidden: int) -> None:
    more = f"{hidden} more neighbours with smaller weights are not shown" if hidden else ""
    subtitle = " · ".join(filter(None, [block_name, more]))
    axes.set_title(title, fontsize=12, color=INK, pad=52 if subtitle else 40, parse_math=False, loc="left")
    if subtitle:
        axes.annotate(
            subtitle,
            (0, 1),
            (0, 38),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8.5,
            color="#666666",
        )


def neighbourhood_lines(
    neighbourhood: Neighbourhood, width: int, colour: bool, layer: int | None = None, head: int | None = None
) -> list[str]:
    """Return lines of text, at most `width` cells wide: each node with the nodes it attends to, largest weight first.

    Heads that do not fit are omitted, and the last line says so. With `colour`, the largest weight of each head stands
    out.
    """
    number, weights = neighbourhood.weights_of(layer, head)
    heads = list(range(len(weights))) if head is None else [head - 1]
    names = [_name_look(neighbourhood, edge) for edge in range(len(neighbourhood.edges))]
    margin = min(max(map(cell_len, names), default=0), max(width // 2, 12))
    fitting = heads[: max(1, (width - margin) // 7)]
    blocks = f", block {number} of {len(neighbourhood.blocks)}" if len(neighbourhood.blocks) > 1 else ""
    lines = [fit_text(f"{show_word(neighbourhood.title)}{blocks}", width)]
    lines.append(" " * margin + "".join(f"{f'head {number_ + 1}':>7}" for number_ in fitting))
    strength = weights[heads].mean(axis=0)
    for edge in sorted(range(len(names)), key=lambda edge: (neighbourhood.edges[edge, 0], -strength[edge])):
        name = fit_text(names[edge], margin)
        shares = [_share(weights[number_, edge], weights[number_].max(), colour) for number_ in fitting]
        lines.append(name + " " * (margin - cell_len(name)) + "".join(shares))
    notes = []
    if neighbourhood.hidden:
        notes.append(f"{neighbourhood.hidden} more neighbours are not shown")
    if len(fitting) < len(heads):
        notes.append(f"{len(heads) - len(fitting)} more heads do not fit")
    return [*lines, *(fit_text(f"{note}.", width) for note in notes)]


def _name_look(record: Neighbourhood, edge: int) -> str:
    """Return the name of an edge: its target if it starts at the centre, otherwise both ends."""
    looks_from, looks_at = (record.nodes[place] for place in record.edges[edge])
    name = show_word(looks_at.name) if looks_at is not looks_from else "itself"
    if looks_from is not record.centre:
        name = f"{show_word(looks_from.name)} → {name}"
    answer = f"  {show_word(looks_at.answer)}" if looks_at.answer else ""
    return f"{name}{answer}{' ×' if looks_at.is_mistaken else ''}"


def _share(weight: float, strongest: float, colour: bool) -> str:
    text = f"{percent(float(weight)):>7}"
    if not colour:
        return text
    return f"{_BRIGHT if weight == strongest else _DIM}{text}{_PLAIN}"


@dataclass(frozen=True)
class GraphDrawing:
    """A neighbourhood as a drawing: one block, with one head or all."""

    record: Neighbourhood
    layer: int | None = None
    head: int | None = None

    view: ClassVar[str] = "graph"

    def draw(self, path: Path) -> set[str]:
        return draw_neighbourhood(self.record, path, self.layer, self.head)

    def lines(self, width: int, colour: bool) -> list[str]:
        return neighbourhood_lines(self.record, width, colour, self.layer, self.head)

    def numbers(self) -> dict[str, Any]:
        return to_json(self.record)

    def data(self) -> dict[str, Any]:
        return graph_data(self.record, self.layer, self.head)

    def page(self) -> SealedPage:
        return SealedPage(SCRIPT, STYLES, self.data())


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the first requested node's attention and its surroundings."""
    assert isinstance(looks.looks_at, Nodes)
    assert looks.edges is not None
    centre = looks.looks_at.centres[0]
    record = neighbourhood_of(looks.looks_at, looks.edges, looks.blocks, centre, wanted.rings or 1)
    return GraphDrawing(record, wanted.layer, wanted.head)
