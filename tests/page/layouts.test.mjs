// Where things stand: names beside points, columns of a tree, curves, lines that a pen drew, and joined heads.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pretendPage } from "./pretend.mjs";

pretendPage();
const { placeLabels } = await import("../../regard/page/parts/labels.js");
const { bow, cross, KINDS_OF_SHAPES, outline } = await import("../../regard/page/parts/shapes.js");
const { simplify } = await import("../../regard/page/parts/paper.js");
const { headWeights } = await import("../../regard/page/parts/heads.js");
const { weightsOf } = await import("../../regard/page/views/attention/state.js");
const { columnEnds } = await import("../../regard/page/views/tree/layout.js");
const { inCommon } = await import("../../regard/page/views/n-best.js");
const { tokenOfWord } = await import("../../regard/page/desks/translate/panel.js");
const { wordsOf } = await import("../../regard/page/desks/translate/writing.js");

test("a name stands right of its point, and left of it where that is taken", () => {
  const size = { width: 20, height: 10 };
  const [first, second] = placeLabels([{ x: 0, y: 0, ...size }, { x: 30, y: 0, ...size }], 5);
  assert.deepEqual(first, { left: 5, top: -5, right: 25, bottom: 5 });
  assert.deepEqual(second, { left: 35, top: -5, right: 55, bottom: 5 });
  const [, crowded] = placeLabels([{ x: 0, y: 0, ...size }, { x: -30, y: 0, ...size }], 5);
  assert.deepEqual(crowded, { left: -25, top: -5, right: -5, bottom: 5 });
});

test("no two names cover each other, and what finds no room is left out", () => {
  const points = Array.from({ length: 40 }, (_, place) => ({ x: place % 7, y: place % 5, width: 30, height: 12 }));
  const boxes = placeLabels(points, 4);
  const placed = boxes.filter((box) => box !== null);
  assert.ok(placed.length > 0 && placed.length < boxes.length);
  for (const [place, one] of placed.entries()) {
    for (const other of placed.slice(place + 1)) {
      const isBeside = one.right <= other.left || other.right <= one.left;
      assert.ok(isBeside || one.bottom <= other.top || other.bottom <= one.top);
    }
  }
});

test("the columns of a tree end behind one another, with a gap before each", () => {
  assert.deepEqual(columnEnds([10, 20, 5]), [40, 90, 125]);
  assert.deepEqual(columnEnds([]), []);
});

test("a bow bends to one side by what is asked for, and without it is straight", () => {
  assert.equal(bow([0, 0], [10, 0], 0), "M 0.0 0.0 Q 5.0 0.0 10.0 0.0");
  assert.equal(bow([0, 0], [10, 0], 3), "M 0.0 0.0 Q 5.0 -6.0 10.0 0.0"); // whose middle is halfway to its handle
});

test("every class has a shape of its own", () => {
  const shapes = Array.from({ length: KINDS_OF_SHAPES }, (_, kind) => outline(kind, 0, 0, 5));
  assert.equal(new Set(shapes).size, KINDS_OF_SHAPES);
  assert.ok(shapes.every((shape) => shape.endsWith("z")));
  assert.equal(cross([5, 5], 2), "M 3 3 l 4 4 m 0 -4 l -4 4");
});

test("a line keeps its ends and corners, and no point that it passes by anyway", () => {
  assert.deepEqual(simplify([[0, 0], [1, 0.01], [2, 0], [2, 2]], 0.1), [[0, 0], [2, 0], [2, 2]]);
  assert.deepEqual(simplify([[0, 0], [1, 1]], 10), [[0, 0], [1, 1]]);
  assert.deepEqual(simplify([[0, 0], [3, 0], [0, 0]], 0.1), [[0, 0], [3, 0], [0, 0]]); // there and back
});

const BLOCKS = [{ where: "a", heads: [[10_000, 0, 5_000, 5_000], [0, 10_000, 2_500, 7_500]] }];

test("heads are shown one by one, as their mean or as their maximum", () => {
  const looks = { blocks: BLOCKS };
  assert.deepEqual(headWeights(looks, { layer: 1, head: 2 }, 2, 4), [0.25, 0.75]);
  assert.deepEqual(headWeights(looks, { layer: 1, head: "mean" }, 0, 2), [0.5, 0.5]);
  assert.deepEqual(headWeights(looks, { layer: 1, head: "max" }), [1, 1, 0.5, 0.75]);
});

test("a matrix joins its heads likewise", () => {
  assert.deepEqual([...weightsOf(BLOCKS[0], 1)], [1, 0, 0.5, 0.5]);
  assert.deepEqual([...weightsOf(BLOCKS[0], "mean")], [0.5, 0.5, 0.375, 0.625]);
  assert.deepEqual([...weightsOf(BLOCKS[0], "max")], [1, 1, 0.5, 0.75]);
});

test("the words of one text that another has too, in its order, are in common", () => {
  assert.equal(inCommon("a b c d".split(" "), "a c b d".split(" ")).size, 3);
  assert.deepEqual([...inCommon(["x", "y"], ["y"])], [1]);
  assert.deepEqual([...inCommon([], ["y"])], []);
});

test("words are counted as alignments count them: what stands between spaces", () => {
  assert.deepEqual(wordsOf(" O gato,\u00a0sim"), [{ word: "O", index: 1 }, { word: "gato,\u00a0sim", index: 3 }]);
});

test("the token that begins a word is found among pieces, bytes and bare spaces", () => {
  const output = { text: "O gato☃ dorme", tokens: ["▁O", "▁ga", "to", "<0xE2>", "▁", "dor", "me", "</s>"] };
  assert.deepEqual([0, 1, 2].map((word) => tokenOfWord(output, word)), [0, 1, 5]);
});
