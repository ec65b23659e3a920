// What the page says to a reader of Portuguese: its own texts, numbers, and the sentences of the server.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pretendPage } from "./pretend.mjs";

const { document } = pretendPage("pt");
const { decimal, duration, inLanguage, isSaid, language, originalNames, say } = await import(
  "../../regard/page/parts/texts.js"
);
const { percent, signed, spokenToken, choiceName } = await import("../../regard/page/parts/common.js");
const { inPageLanguage, patternOf, remarkInPageLanguage } = await import("../../regard/page/parts/refusals.js");

test("the language is the first of the reader's that there are texts in", () => {
  assert.equal(language, "pt");
  assert.equal(document.documentElement.lang, "pt");
  assert.equal(say("language.name"), "Português");
});

test("durations below a second are milliseconds", () => {
  assert.equal(duration(0.0424), "42 ms");
  assert.equal(duration(1.26), "1,3 s");
});

test("a probability is as exact as one reads it", () => {
  const read = [0, 0.0004, 0.012, 0.0994, 0.0996, 0.5, 1].map(percent);
  assert.deepEqual(read, ["0", "<0,1", "1,2", "9,9", "10", "50", "100"].map((number) => `${number}\u202f%`));
});

test("a negative number has a true minus", () => {
  assert.equal(signed(-1.234), "−1,23");
  assert.equal(signed(0.5), "0,50");
});

test("a token is said without the sign of a space, and what stands for no letters by its name", () => {
  assert.equal(spokenToken("▁livro"), "livro");
  assert.equal(spokenToken("</s>"), say("tokens.end"));
  assert.equal(spokenToken("<0xE2>"), say("tokens.byte", { number: "E2" }));
});

test("a choice that has a name is called by it", () => {
  assert.equal(choiceName("max"), say("choices.max"));
  assert.equal(choiceName("3"), "3");
  assert.equal(isSaid("choices.3"), false);
});

test("numbers are grouped as the language does", () => {
  assert.equal(inLanguage(1234567), "1.234.567");
  assert.equal(decimal(2.5, 2), "2,50");
});

test("a pattern takes whatever fills the gaps of a text, and nothing else", () => {
  const { names, pattern } = patternOf("A text has {n} letters (at most {most}).");
  assert.deepEqual(names, ["n", "most"]);
  assert.deepEqual(pattern.exec("A text has 12 letters (at most 10).")?.slice(1), ["12", "10"]);
  assert.equal(pattern.exec("A text has 12 letters."), null);
});

test("every refusal of the server that there is a text for is said in Portuguese", () => {
  const names = originalNames("refusals").filter((name) => name !== "refusals.text");
  assert.ok(names.length > 20);
  for (const name of names) {
    const english = fillAll(name);
    assert.notEqual(inPageLanguage(english), english, name);
  }
});

test("the number of a text stays, and large numbers in a refusal are written anew", () => {
  const [name] = originalNames("refusals").filter((each) => each !== "refusals.text");
  const english = fillAll(name);
  const numbered = inPageLanguage(`Text 3: ${english}`);
  assert.equal(numbered, say("refusals.text", { number: "3", sentence: inPageLanguage(english) }));
});

test("a sentence that there is no text for stays as it is", () => {
  assert.equal(inPageLanguage("There are 7 dragons in the picture."), "There are 7 dragons in the picture.");
  assert.equal(inPageLanguage(""), "");
});

test("each change that made a picture fit is said in Portuguese", () => {
  const changes = ["turned grey", "scaled from 600 × 900 to 19 × 28 pixels"];
  const inverted = "inverted, because their background is black";
  const remark = `The picture is adapted to the training pictures: ${[...changes, inverted].join(", ")}.`;
  assert.equal(
    remarkInPageLanguage(remark),
    "A imagem foi adaptada às imagens do treino: convertida em tons de cinza, " +
      "escala de 600 × 900 para 19 × 28 pixels, invertida, porque o fundo delas é preto.",
  );
  assert.equal(remarkInPageLanguage("It is blue."), "It is blue.");
});

function fillAll(name) {
  return String(JSON.parse(document.getElementById().textContent).en[name]).replaceAll(/\{\w+\}/g, "7");
}
