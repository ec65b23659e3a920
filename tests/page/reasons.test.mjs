// Scores of the parts of an input: words from tokens, tints and shares, and what a figure says compared with chance.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  areSplit, choiceParts, explainableWords, partsOf, sharesOf, strongest, tintsOf, verdictOf,
} from "../../regard/page/views/reasons/scores.js";

// "cats sleep": the first word has two tokens.
const words = { tokens: ["▁cat", "s", "▁sleep"], words: ["cats", "sleep"], word_of_token: [0, 0, 1] };

test("a word has the sum of its tokens", () => {
  assert.deepEqual(partsOf(words.tokens, [0.5, -0.2, 1], words), [
    { name: "cats", score: 0.3, places: [0, 1] },
    { name: "sleep", score: 1, places: [2] },
  ]);
  assert.deepEqual(partsOf(words.tokens, [1, 2, 3], null).map(({ name }) => name), words.tokens);
});

test("a score that is no number counts as nothing, and a word without tokens is not shown", () => {
  assert.deepEqual(partsOf(["a"], [null], null), [{ name: "a", score: 0, places: [0] }]);
  const gap = { tokens: ["a"], words: ["", "a"], word_of_token: [1] };
  assert.deepEqual(partsOf(["a"], [2], gap), [{ name: "a", score: 2, places: [0] }]);
});

test("the largest score has the full colour, whatever its sign", () => {
  assert.deepEqual(tintsOf([1, -4, 2]), [0.25, -1, 0.5]);
  assert.deepEqual(tintsOf([0, 0]), [0, 0]);
  assert.deepEqual(tintsOf([]), []);
});

test("shares are parts of the sum of absolute values", () => {
  assert.deepEqual(sharesOf([1, -3]), [0.25, -0.75]);
  assert.deepEqual(sharesOf([0, 0]), [0, 0]);
});

test("of many parts the strongest stay in their order", () => {
  const parts = [3, -9, 1, 5].map((score, place) => ({ name: String(place), score, places: [place] }));
  assert.deepEqual(strongest(parts, 2).map(({ name }) => name), ["1", "3"]);
  assert.equal(strongest(parts, 4), parts);
});

test("a figure is better or worse than chance only outside of one deviation", () => {
  const figure = { value: 0.5, random: 0.25, deviation: 0.125 };
  assert.equal(verdictOf(figure), "better");
  assert.equal(verdictOf({ ...figure, value: 0 }), "worse");
  assert.equal(verdictOf({ ...figure, value: 0.375 }), "chance");
  assert.equal(verdictOf({ ...figure, deviation: 0.5 }), "chance");
  assert.equal(verdictOf({ value: 0.001, random: 0, deviation: 0 }), "chance"); // nobody sees the difference
  assert.equal(verdictOf({ ...figure, value: null }), "unknown");
});

test("what can be chosen is a word with all its tokens, or each token", () => {
  assert.deepEqual(choiceParts(words, true), [
    { name: "cats", places: [0, 1] },
    { name: "sleep", places: [2] },
  ]);
  assert.deepEqual(choiceParts(words, false).map(({ places }) => places), [[0], [1], [2]]);
  assert.equal(areSplit(words), true);
  assert.equal(areSplit({ tokens: ["a", "b"], words: ["a", "b"], word_of_token: [0, 1] }), false);
  assert.equal(areSplit(null), false);
});

test("a word of a text can be explained if another comes before it", () => {
  assert.deepEqual(explainableWords("  Ana  reads. "), [{ word: "reads.", start: 7 }]);
  assert.deepEqual(explainableWords("Ana"), []);
});
