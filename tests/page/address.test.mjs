// What is shown, in the fragment of the address; and what a person chose in place of what the model finds best.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { pretendPage } from "./pretend.mjs";

const { history, location } = pretendPage();
const { remember, wished, wishedAll } = await import("../../regard/page/parts/address.js");
const { pickOf, questionOf, readPicks, setPick } = await import("../../regard/page/desks/translate/picks.js");

beforeEach(() => {
  history.refuses = false;
  remember({ kept: "1" }); // which ends what was remembered aside
  location.hash = "";
  readPicks();
});

test("of what is named twice the last is wished for, and all can be had", () => {
  location.hash = "#models=a&models=b&text=a+b%26c";
  assert.deepEqual(wished(), { models: "b", text: "a b&c" });
  assert.deepEqual(wishedAll("models"), ["a", "b"]);
  assert.deepEqual(wishedAll("none"), []);
});

test("values come into the fragment, and what else stands there stays", () => {
  location.hash = "#text=hello&head=2";
  remember({ head: 3, layer: 1 });
  assert.deepEqual(wished(), { text: "hello", head: "3", layer: "1" });
});

test("null takes a value out, and a list stands under one name", () => {
  location.hash = "#text=hello&models=a";
  remember({ text: null, models: ["b", "c"] });
  assert.equal(location.hash, "#models=b&models=c");
  remember({ models: [] });
  assert.deepEqual(wished(), {});
});

test("where the address cannot be changed, what is wished for is remembered all the same", () => {
  history.refuses = true;
  remember({ word: "cat" });
  assert.equal(location.hash, "");
  assert.deepEqual(wished(), { word: "cat" });
});

test("a choice belongs to a model and a sentence, and is asked for as what it is", () => {
  setPick("plain", "The cat.", ["▁O", "▁gato"]);
  setPick("other", "The cat.", "O felino.");
  readPicks(); // as whoever opens the same address does
  assert.deepEqual(pickOf("plain", "The cat."), ["▁O", "▁gato"]);
  assert.equal(pickOf("plain", "A dog."), null);
  assert.deepEqual(questionOf("plain", "The cat."), { model: "plain", text: "The cat.", before: ["▁O", "▁gato"] });
  assert.deepEqual(questionOf("other", "The cat."), { model: "other", text: "The cat.", forced: "O felino." });
  assert.deepEqual(questionOf("plain", "A dog."), { model: "plain", text: "A dog.", split_sentences: false });
});

test("what is chosen no more is gone from the address", () => {
  setPick("plain", "The cat.", "O gato.");
  setPick("plain", "The cat.", null);
  assert.deepEqual(wishedAll("pick"), []);
});

test("a choice that someone wrote by hand and that is none is passed over", () => {
  const written = ["{", '["plain","a",7]', '["plain","b","c"]'];
  location.hash = `#${new URLSearchParams(written.map((pick) => ["pick", pick]))}`;
  readPicks();
  assert.deepEqual([pickOf("plain", "a"), pickOf("plain", "b")], [null, "c"]);
});
