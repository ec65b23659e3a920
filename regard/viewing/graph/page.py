"""A neighbourhood as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.graph.layout import lay_out
from regard.viewing.graph.record import Neighbourhood
from regard.viewing.sealed import SealedPage, whole_steps

STYLES = ("page.css", "graph.css")
SCRIPT = "graph-page.js"


def graph_page(neighbourhood: Neighbourhood, layer: int | None = None, head: int | None = None) -> SealedPage:
    """The page; it begins with this block and head."""
    return SealedPage(SCRIPT, STYLES, graph_data(neighbourhood, layer, head))


def graph_data(neighbourhood: Neighbourhood, layer: int | None = None, head: int | None = None) -> dict[str, Any]:
    """A neighbourhood as its view takes it: places in a circle of radius 1, weights as whole ten-thousandths."""
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
