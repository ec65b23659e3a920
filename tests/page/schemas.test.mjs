// Schemas for people: a small value that fits, what is sent, and which kind of value a field takes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pretendPage } from "./pretend.mjs";

pretendPage();
const { plainOf, requestFields, sampleOf } = await import("../../regard/page/docs/schemas.js");

const reference = (name) => ({ $ref: `#/components/schemas/${name}` });
const DOCUMENT = {
  components: {
    schemas: {
      Request: {
        type: "object",
        properties: {
          text: { type: "string" },
          beam: { type: "integer", minimum: 1, default: 4 },
          sample: { anyOf: [{ type: "null" }, reference("Sample")] },
          models: { type: "array", items: { type: "string" } },
        },
        required: ["text", "models"],
      },
      Sample: { type: "object", properties: { top_k: { type: "integer", minimum: 2 } }, required: ["top_k"] },
      Endless: {
        type: "object",
        properties: { inner: { type: "array", items: reference("Endless") } },
        required: ["inner"],
      },
    },
  },
};

test("a sample of a record has the fields that must be given", () => {
  assert.deepEqual(sampleOf(DOCUMENT, reference("Request")), { text: "…", models: ["…"] });
});

test("a default, a choice and a bound are samples of themselves", () => {
  assert.equal(sampleOf(DOCUMENT, { type: "integer", minimum: 1, default: 4 }), 4);
  assert.equal(sampleOf(DOCUMENT, { enum: ["mean", "max"] }), "mean");
  assert.equal(sampleOf(DOCUMENT, { const: "file" }), "file");
  assert.equal(sampleOf(DOCUMENT, { type: "number", minimum: 3 }), 3);
  assert.equal(sampleOf(DOCUMENT, { type: "boolean" }), true);
  assert.equal(sampleOf(DOCUMENT, { type: "null" }), null);
});

test("a record that holds itself has an end", () => {
  assert.doesNotThrow(() => JSON.stringify(sampleOf(DOCUMENT, reference("Endless"))));
});

test("the fields of a request are named with their schemas, and said to be needed or not", () => {
  const fields = requestFields(DOCUMENT, reference("Request"));
  assert.deepEqual(fields.map(({ name, isRequired }) => [name, isRequired]), [
    ["text", true],
    ["beam", false],
    ["sample", false],
    ["models", true],
  ]);
  assert.deepEqual(requestFields(DOCUMENT, undefined), []);
});

test("of what may be nothing the plain kind is what else it may be", () => {
  const { Sample } = DOCUMENT.components.schemas;
  assert.equal(plainOf(DOCUMENT, { anyOf: [{ type: "null" }, reference("Sample")] }), Sample);
  assert.deepEqual(plainOf(DOCUMENT, { type: "string" }), { type: "string" });
});
