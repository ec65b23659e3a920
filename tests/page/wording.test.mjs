// Numbers and texts with gaps, as each language writes them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decimalIn, fill } from "../../regard/page/parts/wording.js";

test("a number has so many decimals and the comma of its language", () => {
  assert.equal(decimalIn("en", 0.125, 2), "0.13");
  assert.equal(decimalIn("pt", 0.125, 1), "0,1");
  assert.equal(decimalIn("ru", -2.5, 2), "-2,50");
});

test("what rounds to nothing has no sign, and thousands stand together", () => {
  assert.equal(decimalIn("en", -0.001, 2), "0.00");
  assert.equal(decimalIn("en", 123456.7, 0), "123457");
});

test("a large number is told by its power of ten", () => {
  assert.equal(decimalIn("en", 1_000_000, 2), "1E6");
  assert.equal(decimalIn("pt", -2_340_000, 0), "-2,3E6");
});

test("gaps are filled in their order, with numbers as the language groups them", () => {
  assert.deepEqual(fill("{b} of {a}", { a: 1234, b: "one" }, "en"), ["one", " of ", "1,234"]);
  assert.equal(fill("{count}", { count: 12345 }, "pt").join(""), "12.345");
});

test("what is no text stays what it is, and no empty strings are left", () => {
  const thing = { word: 1 };
  assert.deepEqual(fill("{thing}", { thing }), [thing]);
  assert.deepEqual(fill("as it is"), ["as it is"]);
});

test("a text that depends on a number has the form of that number", () => {
  const text = { one: "{count} знак", few: "{count} знака", many: "{count} знаков", other: "{count} знака" };
  const forms = [1, 2, 5, 21, 11, 1.5].map((count) => fill(text, { count }, "ru").join(""));
  assert.deepEqual(forms, ["1 знак", "2 знака", "5 знаков", "21 знак", "11 знаков", "1,5 знака"]);
});

test("where a language lacks the form of a number, the other is taken", () => {
  assert.equal(fill({ one: "um", other: "vários" }, { count: 1_000_000 }, "pt").join(""), "vários");
});
