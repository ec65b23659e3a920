"""Search, lanes and attention of the one-file page: those of Python, on invented numbers."""

from itertools import count
from typing import Any

import numpy as np
import pytest
from page_modules import run_modules

from regard.decoding.options import DecodingOptions
from regard.engines.links import word_links
from regard.engines.plain_beam import Best, plain_beam
from regard.onefile.export import SEARCH
from regard.viewing.canvas import show_word
from regard.viewing.hypotheses import Node, Tree, lanes
from regard.viewing.tree import tree_data
from regard.viewing.written import visible

VOCABULARY, BEGIN, END, SOURCE = 12, 2, 3, 5
_SEARCHES = [
    DecodingOptions(beam=1),
    DecodingOptions(beam=4, length_penalty=0.6),
    DecodingOptions(beam=4, stop="first"),
    DecodingOptions(beam=3, stop="exhaustive", length_penalty=1.0, length_penalty_kind="average"),
    DecodingOptions(beam=5, length_penalty_kind="none"),
]
_SEARCH_IN_PAGE = """
const results = [];
for (const { tables, options, limit, begin, end } of given) {
  let at = 0;
  const step = async (tokens, origins, count) => {
    const table = tables[at++];
    const rows = tokens.map((token) => table[token]);
    const order = rows.map((row) => [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, count));
    return {
      values: rows.map((row, place) => order[place].map((token) => row[token])),
      tokens: order,
      end: rows.map((row) => row[end]),
      looks: tokens.map((token) => [Float32Array.of(token)]),
      back: tokens.map((token) => [Float32Array.of(token)]),
    };
  };
  const { finished, record } = await beamSearch(step, limit, begin, end, options);
  results.push({
    finished: finished.map((each) => ({ tokens: each.tokens, total: each.total, looks: each.looks.length })),
    scores: finished.map((each) => scoreOfHypothesis(each, options)),
    kept: record.length,
    parents: record.map(({ parent }) => parent),
  });
}
return results;
"""


def table(seed: int, steps: int) -> np.ndarray:
    """Return log-probabilities (step, token, next token) of which some are equal."""
    draw = np.random.default_rng(seed)
    scores = np.round(draw.normal(size=(steps, VOCABULARY, VOCABULARY)) * 2) / 2
    return np.asarray(scores - np.log(np.exp(scores).sum(-1, keepdims=True)), np.float32)


def search(options: DecodingOptions, tables: np.ndarray, limit: int) -> list[Any]:
    steps = count()

    def step(tokens: Any, origins: Any, most: int) -> Best:
        rows = tables[next(steps)][np.array(tokens)]
        order = np.argsort(-rows, axis=1, kind="stable")[:, :most]
        return Best(np.take_along_axis(rows, order, 1), order, rows[:, END], np.zeros((len(tokens), SOURCE)))

    return plain_beam(step, limit, BEGIN, END, options.model_copy(update={"n_best": options.beam}))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("options", _SEARCHES, ids=lambda options: f"{options.beam} {options.stop}")
def test_a_page_searches_as_python_does(options: DecodingOptions) -> None:
    chosen = {name: getattr(options, name) for name in SEARCH}
    tables = [table(seed, 9) for seed in range(40)]
    given = [{"tables": each.tolist(), "options": chosen, "limit": 9, "begin": BEGIN, "end": END} for each in tables]
    found = run_modules(_SEARCH_IN_PAGE, given, search="beamSearch, scoreOfHypothesis")
    for each, result in zip(tables, found, strict=True):
        expected = search(options, each, 9)
        assert [item["tokens"] for item in result["finished"]] == [item.tokens for item in expected]
        assert [item["total"] for item in result["finished"]] == [item.total for item in expected]
        assert result["scores"] == pytest.approx([item.score(options) for item in expected], rel=1e-15)
        assert all(item["looks"] == len(item["tokens"]) + 1 for item in result["finished"])
        assert all(parent is None or parent < place for place, parent in enumerate(result["parents"]))


def test_the_limit_of_an_output_is_pythons() -> None:
    options = DecodingOptions(longest_ratio=1.3, longest_extra=2)
    given = {"options": options.model_dump(), "lengths": [*range(1, 60)]}
    body = "return given.lengths.map((length) => outputLimit(given.options, length, 50))"
    found = run_modules(body, given, search="outputLimit")
    assert found == [options.limit(length, 50) for length in range(1, 60)]


def random_tree(seed: int) -> Tree:
    """Return a tree in which four hypotheses live at each step and some of them end."""
    draw = np.random.default_rng(seed)
    nodes, living = list[Node](), list[int | None]([None])
    for step in range(1, 8):
        alive = list[int | None]()
        for parent in sorted((living[draw.integers(len(living))] for _ in range(4)), key=lambda place: place or 0):
            ends = bool(draw.random() < 0.2) and step > 1
            nodes.append(Node("x", parent, -0.5, -step / 2, "x" * step, score=-step / 3 if ends else None))
            if not ends:
                alive.append(len(nodes) - 1)
        living = alive or [len(nodes) - 1]
    ended = [place for place, node in enumerate(nodes) if node.score is not None][:3]
    ranked = {place: rank for rank, place in enumerate(ended, 1)}
    return Tree("s", 4, [Node(**{**vars(node), "rank": ranked.get(place)}) for place, node in enumerate(nodes)])


def test_branches_lie_in_the_lanes_of_python() -> None:
    trees = [random_tree(seed) for seed in range(60)]
    given = [
        [{"parent": n.parent, "rank": n.rank, "step": s} for n, s in zip(tree.nodes, tree.steps, strict=True)]
        for tree in trees
    ]
    found = run_modules("return given.map(treeLanes)", given, branching="treeLanes")
    assert found == [lanes(tree) for tree in trees]


def test_a_tree_has_the_fates_and_lanes_of_python() -> None:
    record = [  # parent, token, whether it ended
        (None, 4, False), (None, 5, False), (0, 6, False), (1, 4, False), (2, 3, True), (2, 5, False), (3, 5, False),
        (5, 3, True), (5, 6, False), (6, 4, False),
    ]  # fmt: skip
    body = """
    const names = ["", "", "<s>", "</s>", "▁a", "b", "\\u0301"];
    const target = { names: (tokens) => tokens.map((token) => names[token]), decode: (tokens) => tokens.join(" ") };
    const record = given.map(([parent, token, isEnd]) => {
      const finished = isEnd ? { total: -2, scores: [-1, -1] } : null;
      return { parent, token, logProbability: -0.25, total: -1, finished };
    });
    const finished = record.map((each) => each.finished).filter(Boolean);
    return treeOf(record, finished, target, { beam: 2, length_penalty: 0, length_penalty_kind: "none" });
    """
    found = run_modules(body, record, branching="treeOf")
    names, written, nodes, ranks = (
        ["", "", "<s>", "</s>", "▁a", "b", "\u0301"],
        list[list[int]](),
        list[Node](),
        count(1),
    )
    for parent, token, ends in record:
        written.append([*([] if parent is None else written[parent]), token])
        text = " ".join(map(str, written[-1]))
        score, rank = (-2.0, next(ranks)) if ends else (None, None)
        nodes.append(Node(names[token], parent, -0.25, -1.0, text, score=score, rank=rank))
    expected = tree_data(Tree("s", 2, nodes), ("", ""))
    assert {name: expected[name] for name in found} == found


def test_signs_are_made_visible_as_in_python() -> None:
    words = [
        "a",
        " ",
        "",
        "a\nb",
        "\x00",
        "\u200d",
        "a\u200db",
        "\u202ex",
        "\u00a0",
        "e\u0301",
        "\u0301",
        "\ufeff",
        "▁",
    ]
    found = run_modules(
        "return given.map((each) => [visibleWord(each), visibleToken(each)])",
        words,
        visible="visibleToken, visibleWord",
    )
    assert found == [[show_word(word), visible(word)] for word in words]


def test_words_are_linked_as_in_python() -> None:
    draw = np.random.default_rng(3)
    weights, targets, sources = draw.random((6, 5)).tolist(), [0, 0, 1, 2, 2, -1], [0, 1, 1, -1, 2]
    body = "return wordLinks(given.weights, given.targets, given.sources)"
    given = {"weights": weights, "targets": targets, "sources": sources}
    assert run_modules(body, given, words="wordLinks") == [list(link) for link in word_links(weights, targets, sources)]
