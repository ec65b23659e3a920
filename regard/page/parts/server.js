// Talking to the server: requests and answers as JSON, streams of events, and every failure as a sentence.

import { inPageLanguage } from "./refusals.js";
import { say } from "./texts.js";

const KEY = "regard-key";

/** @typedef {any} Model the description of a model in /v1/models */
/** @typedef {Record<string, (value: any) => void>} Heard a handler for each kind of event */

/** A refusal or failure of the server, in a sentence; `wait` is how many seconds to wait before the next request. */
export class Refusal extends Error {
  /** @param {string} sentence */
  constructor(sentence, status = 0, wait = 0) {
    super(sentence);
    this.status = status;
    this.wait = wait;
  }
}

/** @type {string | null} */
let key = null; // the key entered on this page; also in the tab's session storage if the browser allows it

/** @param {string} given */
export function keepKey(given) {
  key = given;
  try {
    sessionStorage.setItem(KEY, given);
  } catch {
    // Without storage, the browser asks again on the next page.
  }
}

/** The key that was entered here or earlier in this tab. */
function keptKey() {
  try {
    return key ?? sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/**
 * Throw a network failure as a sentence, unless the request was cancelled.
 * @type {(error: Error) => never}
 */
const tellSilence = (error) => {
  throw error.name === "AbortError" ? error : new Refusal(say("trouble.silent"));
};

/**
 * Send a GET request.
 * @param {string} path
 * @returns {Promise<any>}
 */
export const get = async (path) => (await answered(path, {})).json().catch(tellSilence);

/**
 * Fetch a file.
 * @param {string} path
 * @returns {Promise<Blob>}
 */
export const getFile = async (path) => (await answered(path, {})).blob().catch(tellSilence);

/**
 * Send a request with a JSON body and return the answer.
 * @param {string} path
 * @param {object} question
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export async function ask(path, question, signal) {
  const answer = await answered(path, asked(question, signal));
  return answer.json().catch(tellSilence);
}

/**
 * @param {object} question
 * @param {AbortSignal} signal
 * @returns {RequestInit}
 */
function asked(question, signal) {
  const known = keptKey();
  const body = JSON.stringify(known ? { ...question, api_key: known } : question);
  return { method: "POST", headers: { "Content-Type": "application/json" }, body, signal };
}

/**
 * @param {string} path
 * @param {RequestInit} request
 */
async function answered(path, request) {
  const answer = await fetch(path, request).catch(tellSilence);
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  const wait = Number(answer.headers.get("Retry-After")) || 0;
  const sentence = inPageLanguage(error) || say("trouble.status", { status: String(answer.status) });
  throw new Refusal(sentence, answer.status, wait);
}

/**
 * Request a stream and handle each event as it arrives: `heard` has a function for each kind of event. The last
 * is `done`; a stream that ends without it was cut off.
 * @param {string} path
 * @param {object} question
 * @param {AbortSignal} signal
 * @param {Heard} heard
 */
export async function listen(path, question, signal, heard) {
  const answer = await answered(path, asked({ ...question, stream: true }, signal));
  const body = /** @type {ReadableStream} */ (answer.body); // every answer to a POST has one
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let [waiting, isDone] = ["", false];
  for (;;) {
    const { done, value } = await reader.read().catch(tellSilence);
    if (done && !isDone) throw new Refusal(say("trouble.silent"));
    if (done) return;
    const events = (waiting + value).split(/\r?\n\r?\n/);
    waiting = events.pop() ?? "";
    for (const event of events) isDone ||= tell(event, heard) === "done";
  }
}

/**
 * Handle one event of a stream, a kind and some data (HTML, section 9.2.6), and return its kind.
 * @param {string} event
 * @param {Heard} heard
 */
function tell(event, heard) {
  const lines = event.split(/\r?\n/).flatMap((line) => [...line.matchAll(/^(event|data): ?(.*)$/g)]);
  /** @param {string} name */
  const of = (name) => lines.filter(([, field]) => field === name).map(([, , value]) => value);
  const data = of("data").join("\n");
  if (!data) return null;
  const [kind] = of("event");
  const value = JSON.parse(data);
  if (kind === "error") throw new Refusal(inPageLanguage(value.error), value.status);
  heard[kind]?.(value);
  return kind;
}
