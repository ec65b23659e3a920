"""Roles of heads: a table of who has which, and a picture of heads by roles."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, SOFT, canvas, check_suffix, missing_glyphs, save_figure
from regard.viewing.sealed import SealedPage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("page.css", "roles.css")
SCRIPT = "roles-page.js"
_CELL = (0.5, 0.27)  # inches
_MARKS = {True: "#d1622b", False: "#9aa3ad"}  # outlines of best heads that beat position alone, and of others
CAPTION = (
    "Share of looks whose strongest weight goes where the role says; for long range, the mean distance in tokens. "
    "Outlined: the head that does this best in one half of the sentences; in orange if it beats position alone, which "
    "always looks the same number of places away, in the other half."
)


@dataclass(frozen=True)
class RoleHead:
    """One head in one role: share of hits by its strongest weight, and its mean weight on the targets."""

    where: str
    block: int
    head: int
    strongest: float
    weight: float

    @property
    def name(self) -> str:
        """Block and head, counted from 1."""
        return f"{self.block}.{self.head}"


@dataclass(frozen=True)
class HeadRole:
    """A role on one side: the chance level by position alone, the head that has the role, and all heads.

    `best` and `alone` are chosen on one half of the sentences and measured on the `scored` looks of the other; `heads`
    are measured on all `looks`. Roles that are a position themselves have no `alone`. Distances have no `offset`.
    `effects` holds scores with and without the best head, by name.
    """

    side: str
    role: str
    looks: int
    scored: int
    offset: int | None
    alone: float | None
    best: RoleHead
    heads: Sequence[RoleHead]
    effects: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_distance(self) -> bool:
        return self.offset is None and self.alone is not None

    @property
    def beats_position(self) -> bool:
        """True if the best head does better than position alone, or if there is nothing to beat."""
        return self.alone is None or self.best.strongest > self.alone

    def show(self, value: float) -> str:
        return f"{value:.1f}" if self.is_distance else f"{100 * value:.0f}%"


@dataclass(frozen=True)
class HeadRoles:
    """The roles of all heads of a model, measured on `sentences`."""

    sentences: int
    roles: Sequence[HeadRole]


def roles_table(roles: HeadRoles) -> tuple[list[str], list[list[str]]]:
    """Return column names and a row for each role of each side."""
    effects = list(dict.fromkeys(name for role in roles.roles for name in role.effects))
    columns = ["side", "role", "looks", "position alone", "head", "strongest", "mean weight"]
    return [*columns, *(f"{name} without" for name in effects)], [_row(role, effects) for role in roles.roles]


def _row(role: HeadRole, effects: Sequence[str]) -> list[str]:
    alone = "–" if role.alone is None else role.show(role.alone)
    if role.offset is not None and role.alone is not None:
        alone += f" ({role.offset:+d})" if role.offset else " (0)"
    best = role.best
    changes = [_change(*role.effects[name]) if name in role.effects else "–" for name in effects]
    return [
        role.side,
        role.role,
        f"{role.looks:,}",
        alone,
        best.name,
        role.show(best.strongest),
        role.show(best.weight),
        *changes,
    ]


def _change(intact: float, without: float) -> str:
    return f"{without:.1f} ({without - intact:+.1f})"


def roles_to_json(roles: HeadRoles) -> dict[str, Any]:
    """Return the roles as plain values; shares are between 0 and 1, distances in tokens, and scores as printed."""

    def as_dict(head: RoleHead) -> dict[str, Any]:
        numbers = {"strongest": head.strongest, "mean_weight": head.weight}
        return {"where": head.where, "block": head.block, "head": head.head, **numbers}

    return {
        "sentences": roles.sentences,
        "roles": [
            {
                "side": role.side,
                "role": role.role,
                "looks": role.looks,
                "scored": role.scored,
                "position_alone": role.alone,
                "offset": role.offset,
                "best": as_dict(role.best),
                "beats_position": role.beats_position,
                "heads": [as_dict(head) for head in role.heads],
                "switched_off": {
                    name: {"with": intact, "without": without} for name, (intact, without) in role.effects.items()
                },
            }
            for role in roles.roles
        ],
    }


@dataclass(frozen=True)
class _Panel:
    """The heads of one side by its roles."""

    side: str
    roles: Sequence[HeadRole]

    @property
    def heads(self) -> list[str]:
        return list(dict.fromkeys(head.name for role in self.roles for head in role.heads))

    def cells(self) -> Iterator[tuple[int, int, HeadRole, RoleHead]]:
        rows = {name: row for row, name in enumerate(self.heads)}
        for column, role in enumerate(self.roles):
            for head in role.heads:
                yield rows[head.name], column, role, head


def _panels(roles: HeadRoles) -> list[_Panel]:
    sides = dict.fromkeys(role.side for role in roles.roles)
    return [_Panel(side, [role for role in roles.roles if role.side == side]) for side in sides]


def _shade(role: HeadRole, value: float) -> float:
    """Return how dark a cell is: the share itself, or a distance as a part of the side's largest."""
    largest = max((head.strongest for head in role.heads), default=0.0) if role.is_distance else 1.0
    return value / largest if largest else 0.0


def draw_roles(roles: HeadRoles, path: Path) -> set[str]:
    """Draw a panel for each side: heads from top to bottom, roles from left to right, position alone below."""
    check_suffix(path)
    panels = _panels(roles)
    texts = [CAPTION, *(text for panel in panels for text in (panel.side, *(role.role for role in panel.roles)))]
    with canvas(texts) as new_figure:
        figure = _sheet(panels, new_figure)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _sheet(panels: Sequence[_Panel], new_figure: "type[Figure]") -> "Figure":
    """Place the panels below each other, each as large as its cells need, with the caption at the bottom."""
    top, left = 1.25, 0.75  # inches for the names of roles and of heads
    width = max(max(len(panel.roles) for panel in panels) * _CELL[0], 4.2) + 1.2
    heights = [(len(panel.heads) + 1.3) * _CELL[1] for panel in panels]
    height = sum(heights) + top * len(panels) + 0.15
    figure = new_figure(figsize=(width, height))
    above = 0.0
    for panel, tall in zip(panels, heights, strict=True):
        above += top
        wide = len(panel.roles) * _CELL[0]
        axes = figure.add_axes((left / width, 1 - (above + tall) / height, wide / width, tall / height))
        _draw_panel(axes, panel)
        above += tall
    caption = "\n".join(textwrap.wrap(CAPTION, int(width * 14)))
    figure.text(0.1 / width, 0.02 / height, caption, fontsize=8, color=SOFT, va="top", linespacing=1.4)
    return figure


def _draw_panel(axes: "Axes", panel: _Panel) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex
    from matplotlib.patches import Rectangle

    heads = panel.heads
    bottom = len(heads) + 0.3  # where position alone is drawn

    def cell(row: float, column: int, role: HeadRole, value: float, mark: str = "") -> None:
        shade = _shade(role, value)
        colour = to_hex(colormaps["Blues"](min(1.0, shade)))
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="#e4e8ee", linewidth=0.5))
        if mark:
            inset = Rectangle((column + 0.04, row + 0.07), 0.92, 0.86, fill=False, edgecolor=mark, linewidth=1.8)
            axes.add_patch(inset)
        number = role.show(value).removesuffix("%")
        ink = "white" if shade > 0.5 else INK
        axes.text(column + 0.5, row + 0.5, number, ha="center", va="center_baseline", fontsize=7.5, color=ink)

    for row, column, role, head in panel.cells():
        cell(row, column, role, head.strongest, _MARKS[role.beats_position] if head.name == role.best.name else "")
    for column, role in enumerate(panel.roles):
        if role.alone is not None:
            cell(bottom, column, role, role.alone)
    axes.set(xlim=(-0.05, len(panel.roles) + 0.05), ylim=(bottom + 1.05, -0.05))
    axes.set_yticks([*np.arange(len(heads)) + 0.5, bottom + 0.5], [*heads, "position"])
    axes.xaxis.tick_top()
    names = [role.role for role in panel.roles]
    axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=40, ha="left", rotation_mode="anchor")
    axes.tick_params(length=0, labelsize=8, labelcolor=INK)
    axes.set_ylabel(panel.side, fontsize=10, color=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, visible=False)


def roles_page(roles: HeadRoles, title: str) -> SealedPage:
    """Return the page: a table of heads by roles for each side."""
    return SealedPage(SCRIPT, STYLES, {"title": title} | roles_to_json(roles))
