// Talking to the server: questions and answers as JSON, streams of events, and every failure as a sentence.

import { say } from "./texts.js";

const KEY = "regard-key";

/** What the server refused, or could not do, in a sentence; `wait` is how many seconds it asks for. */
export class Refusal extends Error {
  constructor(sentence, status = 0, wait = 0) {
    super(sentence);
    Object.assign(this, { status, wait });
  }
}

export const keepKey = (key) => sessionStorage.setItem(KEY, key);

/** Get what needs no question. */
export const get = async (path) => (await answered(path, {})).json();

/** Ask a question and get its answer. */
export const ask = async (path, question, signal) => (await answered(path, asked(question, signal))).json();

function asked(question, signal) {
  const key = sessionStorage.getItem(KEY);
  const body = JSON.stringify(key ? { ...question, api_key: key } : question);
  return { method: "POST", headers: { "Content-Type": "application/json" }, body, signal };
}

async function answered(path, request) {
  const answer = await fetch(path, request).catch((error) => {
    throw error.name === "AbortError" ? error : new Refusal(say("trouble.silent"));
  });
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  const wait = Number(answer.headers.get("Retry-After")) || 0;
  throw new Refusal(error || say("trouble.status", { status: String(answer.status) }), answer.status, wait);
}

/** Ask for a stream, and hear of each of its events as it comes: `heard` has a function for each kind of event. */
export async function listen(path, question, signal, heard) {
  const answer = await answered(path, asked({ ...question, stream: true }, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : new Refusal(say("trouble.silent"));
    });
    if (done) return;
    const events = (waiting + value).split(/\r?\n\r?\n/);
    waiting = events.pop();
    for (const event of events) tell(event, heard);
  }
}

/** One event of a stream: a kind and some data (HTML, section 9.2.6). */
function tell(event, heard) {
  const lines = event.split(/\r?\n/).map((line) => /^(event|data): ?(.*)$/.exec(line)).filter(Boolean);
  const of = (name) => lines.filter(([, field]) => field === name).map(([, , value]) => value);
  const data = of("data").join("\n");
  if (!data) return;
  const [kind] = of("event");
  const value = JSON.parse(data);
  if (kind === "error") throw new Refusal(value.error, value.status);
  heard[kind]?.(value);
}
