// Edits of attention: how a drag or a switch becomes a record, what is undone, and which words are new.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  changedWords, fullName, headEdit, holding, isOff, linkEdit, marksOf, namedIn, pastOf, placeOf, readRecord, recordOf,
} from "../../regard/page/desks/editing/edits.js";

// "the cat|s sleep": the second word has two tokens; the output has three words, the last with two tokens.
const side = {
  rows: ["as", "gatas", "dormem"],
  columns: ["the", "cats", "sleep"],
  row_of_token: [0, 1, 2, 2],
  column_of_token: [0, 1, 1, 2],
};
const shown = { side: "cross", layer: 2, head: 1 };

test("a link that is dragged moves the weight of all tokens of a word", () => {
  const edit = linkEdit(side, shown, 2, 1, 0);
  assert.deepEqual(edit, { at: "cross.2.1", do: "move", queries: [2, 3], keys: [1, 2], to: 0 });
  assert.deepEqual(namedIn(edit, side), { query: ["dormem"], from: ["cats"], to: ["the"] });
});

test("a word that is dragged to another looks at nothing else, in every head if heads are joined", () => {
  const edit = linkEdit(side, { ...shown, head: "mean" }, 0, null, 1);
  assert.deepEqual(edit, { at: "cross.2", do: "force", queries: [0], keys: [1, 2] });
  assert.deepEqual(namedIn(edit, side), { query: ["as"], from: [], to: ["cats"] });
});

test("a head that is off is one whose whole output is zero", () => {
  assert.deepEqual(headEdit(shown), { at: "cross.2.1", part: "head", do: "zero" });
  assert.ok(isOff(headEdit(shown)));
  assert.ok(!isOff({ ...headEdit(shown), queries: [1] }));
  assert.ok(!isOff({ at: "cross.2.1", do: "zero", keys: [1] }));
});

test("the name of a place has side, block and perhaps head; paths of modules have none", () => {
  assert.deepEqual(placeOf("cross.2.1"), { side: "cross", layer: 2, head: 1 });
  assert.deepEqual(placeOf("encoder.3"), { side: "encoder", layer: 3, head: null });
  assert.equal(placeOf("decoder.0.cross.look"), null);
});

test("the places that edits mark are rows and columns of the words shown", () => {
  const edits = [linkEdit(side, shown, 2, 1, 0), headEdit(shown), { at: "other.1", do: "zero", keys: [0] }];
  assert.deepEqual(marksOf(edits, { cross: side }), [
    { side: "cross", layer: 2, head: 1, rows: [2], columns: [0], off: false },
    { side: "cross", layer: 2, head: 1, rows: null, columns: [], off: true },
  ]);
  // Another output may be shorter than the one that was edited.
  const shorter = { ...side, rows: ["as"], row_of_token: [0] };
  assert.deepEqual(marksOf(edits, { cross: shorter })[0].rows, []);
});

const entry = (at, text = null) => ({ edit: { at, part: "head", do: "zero" }, text, named: null, model: null });

test("edits of places hold for their sentence, and those of heads for every one", () => {
  const [everywhere, here, there] = [entry("cross.1.1"), entry("cross.1.2", "here"), entry("cross.2.1", "there")];
  assert.deepEqual(holding([everywhere, here, there], "here"), [everywhere, here]);
});

test("undoing passes over changes that a sentence does not show", () => {
  const [first, second] = [entry("cross.1.1", "here"), entry("cross.1.2", "there")];
  const past = [[], [first]];
  assert.deepEqual(pastOf(past, [first, second], "here"), [[]]);
  assert.deepEqual(pastOf(past, [first, second], "there"), [[], [first]]);
  assert.deepEqual(pastOf([], [], "here"), []);
});

test("a record is read as it was saved, and what is no record is refused", () => {
  const edits = [headEdit(shown)];
  assert.deepEqual(readRecord(JSON.stringify(recordOf(edits, "ab"))), { edits, model: "ab" });
  assert.deepEqual(readRecord(JSON.stringify(recordOf(edits, null))), { edits, model: null });
  const wrong = ["", "[]", "null", "{}", '{"format":2,"edits":[{"at":"a","do":"b"}]}', '{"format":1,"edits":[]}'];
  wrong.push('{"format":1,"edits":[null]}', '{"format":1,"edits":[{"at":1,"do":"zero"}]}');
  wrong.push(JSON.stringify(recordOf(Array(65).fill(edits[0]), null)), " ".repeat(1_000_001));
  for (const text of wrong) assert.equal(readRecord(text), null, text.slice(0, 50));
});

test("the words that changed are those outside the longest common order", () => {
  const marked = (text, other) => changedWords(text, other).map(({ word, isNew }) => (isNew ? `*${word}` : word)).join(" ");
  assert.equal(marked("a gata dorme", "a gata dorme"), "a gata dorme");
  assert.equal(marked("a casa dorme", "a gata dorme"), "a *casa dorme");
  assert.equal(marked("o a o b", "a o"), "*o a o *b");
  assert.equal(marked("x a b", "a y b"), "*x a b");
  assert.equal(marked("a", ""), "*a");
  assert.equal(marked("", "a"), "");
});

test("a probability is one word, although it has a space", () => {
  const marked = changedWords("near (18\u202f%)", "near (9.3\u202f%)");
  assert.deepEqual(marked, [{ word: "near", isNew: false }, { word: "(18\u202f%)", isNew: true }]);
});

test("the only side of a model may be omitted, and its name may have spaces", () => {
  assert.equal(fullName("2.1", ["text to text"]), "text to text.2.1");
  assert.equal(fullName("2", ["encoder"]), "encoder.2");
  assert.equal(fullName("2.1", ["pooling", "encoder"]), "2.1");
  assert.equal(fullName("encoder.2.1", ["encoder"]), "encoder.2.1");
  assert.deepEqual(placeOf("text to text.2.1"), { side: "text to text", layer: 2, head: 1 });
});

test("of as many words, those that differ at their places are new, unless fewer differ in their order", () => {
  /** @type {(text: string, other: string) => string} */
  const newOnes = (text, other) => changedWords(text, other).map(({ isNew }) => Number(isNew)).join("");
  assert.equal(newOnes("det noun noun verb", "det det noun verb"), "0100");
  assert.equal(newOnes("det det noun verb", "det noun noun verb"), "0100");
  assert.equal(newOnes("a b c d", "b c d e"), "1000");
});
