// The values of a lesson's steps: numbers as readers of a language write them, and as Python does.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pretendPage } from "./pretend.mjs";

pretendPage("pt");
const { literal, readNumber, wrongNumber } = await import("../../regard/page/course/values.js");

const width = { name: "width", label: "", default: 3, value: 3, least: 1, most: 8, whole: true };
const share = { name: "share", label: "", default: 0.5, value: 0.5, least: -1, most: 1, whole: false };
const way = { name: "way", label: "", default: "beam", value: "beam", choices: ["beam", "greedy"] };

test("a number has a decimal comma or point", () => {
  const read = ["0,67", "0.67", " 3 ", ".5", "−2", "1e-3", "+4"].map(readNumber);
  assert.deepEqual(read, [0.67, 0.67, 3, 0.5, -2, 0.001, 4]);
  for (const text of ["", "x", "1,2,3", "1.2.3", "0x10", "Infinity", "3 4", "--1"]) assert.equal(readNumber(text), null);
});

test("a value is shown as Python writes it", () => {
  assert.equal(literal(width, 3), "3");
  assert.equal(literal(share, 1), "1.0");
  assert.equal(literal(share, 0.25), "0.25");
  assert.equal(literal(way, "beam"), '"beam"');
});

test("a number out of bounds or not whole is refused in the language of the page", () => {
  assert.equal(wrongNumber(width, "8"), "");
  assert.equal(wrongNumber(share, "-0,5"), "");
  assert.equal(wrongNumber(width, "9"), "Digite um número inteiro de 1 a 8.");
  assert.equal(wrongNumber(width, "2,5"), "Digite um número inteiro de 1 a 8.");
  assert.equal(wrongNumber(share, "1,01"), "Digite um número de -1 a 1.");
  assert.equal(wrongNumber(share, ""), "Digite um número de -1 a 1.");
});
