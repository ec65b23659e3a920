// Talking to a server: answers, refusals as sentences, and streams of events however they are cut.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { pretendPage } from "./pretend.mjs";

pretendPage();
const { ask, get, keepKey, listen, Refusal } = await import("../../regard/page/parts/server.js");
const { say } = await import("../../regard/page/parts/texts.js");
const { encoded } = await import("../../regard/page/parts/encoding.js");

const asked = [];
function answer(body, status = 200, headers = {}) {
  globalThis.fetch = async (path, request) => {
    asked.push([path, request.body && JSON.parse(request.body)]);
    return new Response(body, { status, headers });
  };
}

const { signal } = new AbortController();
afterEach(() => asked.splice(0));

/** A body that comes in pieces. */
const inPieces = (...pieces) => ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));

test("a question is asked as JSON and its answer read as JSON", async () => {
  answer('{"text": "O gato."}');
  assert.deepEqual(await ask("v1/translate", { text: "The cat." }, signal), { text: "O gato." });
  assert.deepEqual(asked, [["v1/translate", { text: "The cat." }]]);
});

test("a refusal is its sentence, its status and how long to wait", async () => {
  answer('{"error": "There are 7 dragons."}', 503, { "Retry-After": "5" });
  await assert.rejects(get("v1/models"), (error) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.message, error.status, error.wait], ["There are 7 dragons.", 503, 5]);
    return true;
  });
});

test("an answer that is no JSON is told by its status, and silence as silence", async () => {
  answer("<html>", 502);
  await assert.rejects(get("v1/models"), { message: say("trouble.status", { status: "502" }), wait: 0 });
  globalThis.fetch = async () => {
    throw new TypeError("network");
  };
  await assert.rejects(get("v1/models"), { message: say("trouble.silent") });
});

test("who forgets a question hears nothing of it", async () => {
  globalThis.fetch = async () => {
    throw new DOMException("gone", "AbortError");
  };
  await assert.rejects(ask("v1/look", {}, signal), { name: "AbortError" });
});

test("events are told in their order, wherever the stream was cut", async () => {
  const heard = [];
  const middle = "\nevent: sentence\r\ndata: 1\r\n\r\n: a comment\n\n";
  answer(inPieces('event: start\ndata: {"n"', ": 2}\n", middle, "event: done\ndata: {}\n\n"));
  const notes = ["start", "sentence", "done"].map((kind) => [kind, (value) => heard.push([kind, value])]);
  await listen("v1/translate", { text: "a" }, signal, Object.fromEntries(notes));
  assert.deepEqual(heard, [["start", { n: 2 }], ["sentence", 1], ["done", {}]]);
  assert.equal(asked[0][1].stream, true);
});

test("a stream that ends without its last event was cut", async () => {
  answer(inPieces("event: start\ndata: {}\n\n"));
  await assert.rejects(listen("v1/translate", {}, signal, {}), { message: say("trouble.silent") });
});

test("an error in a stream is a refusal", async () => {
  answer(inPieces('event: error\ndata: {"error": "Too late.", "status": 504}\n\n'));
  await assert.rejects(listen("v1/translate", {}, signal, {}), { message: "Too late.", status: 504 });
});

test("a file goes as base64, and one that is too large is refused in words", async () => {
  assert.equal(await encoded(new Blob(["abc"]), 3, "answer.too_large"), "YWJj");
  await assert.rejects(encoded(new Blob(["abcd"]), 3, "answer.too_large"), {
    message: say("answer.too_large", { size: 4, most: 3 }),
  });
});

test("a key goes with every question once it is given", async () => {
  keepKey("secret");
  answer("{}");
  await ask("v1/look", { model: "a" }, signal);
  assert.deepEqual(asked[0][1], { model: "a", api_key: "secret" });
});
