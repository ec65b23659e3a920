"""A neighbourhood: its nodes, their places, and the same content in every form."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.graph import draw_neighbourhood, graph_data, neighbourhood_lines
from regard.viewing.neighbourhood import from_json, lay_out, neighbourhood_of, strand, to_json
from regard.viewing.seen import Block
from regard.viewing.sides import Nodes

sys.path.insert(0, str(Path(__file__).parent))
from drawn import EDGES, neighbourhood, star

PNG = b"\x89PNG"


def test_one_ring_has_the_neighbours_and_their_looks_are_not_shown() -> None:
    near = neighbourhood()
    assert [(node.name, node.ring) for node in near.nodes] == [("a", 0), ("b", 1), ("d", 1), ("c", 1)]
    assert near.edges.tolist() == [[0, 0], [0, 1], [0, 3], [0, 2]]
    assert near.blocks[0].weights.tolist() == [[0.1, 0.6, 0.2, 0.1], [0.2, 0.1, 0.1, 0.6]]
    assert (near.title, near.hidden) == ("Node a: class X", 0)


def test_two_rings_have_the_looks_of_the_first_and_never_strangers() -> None:
    far = neighbourhood(rings=2)
    assert [(node.name, node.ring) for node in far.nodes][4:] == [("e", 2)]
    assert {(far.nodes[a].name, far.nodes[b].name) for a, b in far.edges.tolist()} == {
        ("a", "a"), ("a", "b"), ("a", "c"), ("a", "d"), ("b", "b"), ("b", "e"), ("b", "a"), ("c", "d"), ("d", "c")
    }  # fmt: skip


def test_of_too_many_those_stay_that_are_looked_at_most() -> None:
    """The mean of both blocks is 0.3 for b and d, and 0.2 for c."""
    few = neighbourhood(most=2)
    assert [node.name for node in few.nodes] == ["a", "b", "d"]
    assert few.hidden == 1
    assert len(star(200).nodes) == 61
    assert star(200).hidden == 140


def test_answers_that_are_not_the_label_are_mistaken() -> None:
    assert [node.name for node in neighbourhood().nodes if node.is_mistaken] == ["c"]


def test_the_middle_is_in_the_middle_and_the_rings_are_circles() -> None:
    layout = lay_out(neighbourhood(rings=2))
    assert np.hypot(*layout.places.T).tolist() == pytest.approx([0, 0.5, 0.5, 0.5, 1])
    assert layout.itself == pytest.approx((0, 0.5))  # at the top
    assert np.arctan2(*layout.places[1]) == pytest.approx(np.arctan2(*layout.places[4]))  # e is behind b
    straight = [edge for edge, is_outward in zip(EDGES.T.tolist(), layout.outward, strict=True) if is_outward]
    assert straight == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 4]]


@pytest.mark.parametrize("neighbours", [1, 2, 7, 60])
def test_no_two_nodes_stand_at_one_place(neighbours: int) -> None:
    layout = lay_out(star(neighbours))
    places = np.vstack([layout.places, layout.itself])
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + np.eye(len(places))
    assert apart.min() >= min(1.0, 2 * np.sin(np.pi / (neighbours + 1))) - 1e-9


def test_the_bows_of_heads_lie_side_by_side_and_within_their_room() -> None:
    start, end = np.zeros(2), np.array([0.0, 2.0])
    middles = [strand(start, end, head, 4, 0.8) @ [0, 1] for head in range(4)]  # only upwards
    assert all(curve.tolist() == [0, 1, 2] for curve in middles)
    # A quadratic curve passes its middle halfway to its control point.
    across = [strand(start, end, head, 4, 0.8)[1, 0] / 2 for head in range(4)]
    assert across == pytest.approx([0.3, 0.1, -0.1, -0.3])


def test_every_head_has_a_line_for_every_look(tmp_path: Path) -> None:
    path = tmp_path / "graph.svg"
    assert draw_neighbourhood(neighbourhood(), path) == set()
    text = path.read_text()
    assert text.count('id="look-0-') == 2 * 4
    for word in ("head 1", "head 2", "itself", "widest: 0.60", "mistaken", "block 1 of 2", ">b<"):
        assert word in text
    draw_neighbourhood(neighbourhood(), path, layer=1, head=2)
    assert path.read_text().count('id="look-0-') == 4
    assert "head 1" not in path.read_text()


def test_pictures_are_made_of_one_neighbour_and_of_many(tmp_path: Path) -> None:
    for number, record in enumerate([star(1), star(60), star(200), neighbourhood(rings=2)]):
        path = tmp_path / f"{number}.png"
        draw_neighbourhood(record, path)
        assert path.read_bytes()[:4] == PNG


def test_a_node_alone_is_drawn_alone(tmp_path: Path) -> None:
    """One node sees only itself, and one not even that."""
    blind = neighbourhood_of(Nodes(["a", "b"], [0]), np.array([[1], [1]]), [Block("look", np.ones((2, 1)))], 0)
    assert len(blind.edges) == 0
    for number, record in enumerate([star(0), blind]):
        draw_neighbourhood(record, tmp_path / f"{number}.png")
        assert len(neighbourhood_lines(record, 80, colour=False)) == 3 - number
        assert graph_data(record)["nodes"][0]["place"] == [0, 0]


def test_a_block_or_head_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for layer, head in [(3, None), (1, 3), (2, 2)]:
        with pytest.raises(Fault, match=r"This model has 2 blocks of 2, 1 heads on that side\."):
            draw_neighbourhood(neighbourhood(), tmp_path / "graph.png", layer, head)


def test_the_terminal_has_a_line_for_every_look_the_strongest_first() -> None:
    assert neighbourhood_lines(neighbourhood(), 80, colour=False) == [
        "Node a: class X, block 1 of 2",
        "          head 1 head 2",
        "b  Y        60\u202f%   10\u202f%",
        "d  X        10\u202f%   60\u202f%",
        "itself  X   10\u202f%   20\u202f%",
        "c  X ×      20\u202f%   10\u202f%",
    ]
    assert any("b → e" in line for line in neighbourhood_lines(neighbourhood(2), 80, colour=False))


def test_the_terminal_says_what_does_not_fit() -> None:
    lines = neighbourhood_lines(star(200), 30, colour=False)
    assert max(map(len, lines)) <= 30
    assert lines[-2:] == ["140 more neighbours are not s…", "5 more heads do not fit."]


def test_numbers_survive_as_json() -> None:
    record = neighbourhood(rings=2)
    back = from_json(json.loads(json.dumps(to_json(record))))
    assert to_json(back) == to_json(record)
    assert back.nodes == record.nodes


def test_a_page_has_places_and_weights_in_ten_thousandths() -> None:
    data = graph_data(neighbourhood())
    assert data["blocks"][0]["heads"] == [[1000, 6000, 2000, 1000], [2000, 1000, 1000, 6000]]
    assert data["nodes"][0]["place"] == [0, 0]
    assert data["itself"] == [0, 1]
    assert data["classes"] == ["X", "Y"]
