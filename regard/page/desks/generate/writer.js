// The panel of one language model: the probability of each token of the prompt, the next tokens, and a continuation.

import { button, element, percent, reachable, spokenToken, tokenParts, walkable } from "../../parts/common.js";
import { savable } from "../../parts/saving.js";
import { duration, say } from "../../parts/texts.js";

/** @import { Child } from "../../parts/common.js" */
/** @import { Model } from "../../parts/server.js" */
/** @typedef {any} Token in the server's format */
/** @typedef {{ count: number, probability: number }} Rest */
/** @typedef {{ next: Token[], rest: Rest, perplexity: number, room: number | null, forgotten: number }} Reading */
/**
 * @typedef {object} Wire how a panel reaches its model
 * @property {(question: any, signal: AbortSignal) => Promise<any>} read a prompt
 * @property {(question: any, signal: AbortSignal, heard: Record<string, (value: any) => void>) => Promise<void>} write
 * @property {(error: unknown) => boolean} isRefusal whether an error is a sentence for the reader
 */
/** @typedef {Record<string, any> & { written: Token[], table: HTMLElement, text: HTMLElement }} Writer */

const SHOWN = 12; // candidates for the next token
const MOST_READ = 400; // tokens of the prompt that are shown, counted from its end
const ROUNDED = 1e-9; // smaller differences are rounding errors

/**
 * The probability for a log-probability; 0 for an impossible token.
 * @type {(score: number | null) => number}
 */
const shareOf = (score) => (score === null ? 0 : Math.exp(score));

/**
 * A new panel. `heard` has `chosen` (called with the prompt, the prompt extended by a token or a text, and the name of
 * that addition), `wanted` (the model should continue) and `changed` (it started or stopped writing).
 * @type {(model: Model, heard: Record<string, (...told: any[]) => void>, wire: Wire) => Writer}
 */
export function makeWriter(model, heard, wire) {
  const name = element("h2", {}, model.name, " ");
  name.append(element("small", {}, model.family));
  const text = element("p", { class: "told", dir: "auto", role: "group" });
  const facts = element("span", { class: "facts", role: "status" });
  const goes = button({ class: "plain unsaved" }, say("writer.go"));
  const takes = button({ class: "plain unsaved", hidden: "" }, say("writer.take"));
  const foot = element("p", { class: "foot" }, facts, element("span", { class: "doing" }, goes, takes));
  const trouble = element("p", { class: "trouble", role: "alert", hidden: "" });
  const title = element("h3", {}, say("writer.next"));
  const table = element("table", { class: "bars choices", "aria-label": say("writer.choices", { model: model.name }) });
  const rest = element("p", { class: "hint" });
  const said = element("span", { class: "unseen", role: "status" });
  const root = element("section", { class: "writer" }, name, text, foot, trouble, title, table, rest, said);
  const parts = { root, text, facts, goes, takes, trouble, table, rest, said };
  const known = { read: null, prompt: null, written: [], whole: "", controller: null, isWriting: false };
  /** @type {Writer} */
  const writer = { model, heard, wire, ...parts, ...known };
  savable(root, "text", () => {
    return { model: model.name, prompt: writer.read, written: writer.written, text: writer.whole };
  });
  listenToWriter(writer);
  return writer;
}

/**
 * Cancel the pending request.
 * @type {(writer: Writer) => void}
 */
export function stopWriter(writer) {
  writer.controller?.abort();
  writer.root.removeAttribute("aria-busy");
  if (!writer.isWriting) return;
  writer.isWriting = false;
  writer.facts.textContent = say("writer.stopped", { count: writer.written.length });
  writer.heard.changed();
}

/**
 * Request the probabilities for a prompt, and drop the continuation of the previous one.
 * @type {(writer: Writer, prompt: string, drawing: object) => Promise<void>}
 */
export async function readPrompt(writer, prompt, drawing) {
  stopWriter(writer);
  clearWritten(writer);
  const wasChoosing = writer.table.contains(document.activeElement);
  writer.prompt = null;
  const isOver = await attempt(writer, async (signal) => {
    const question = { model: writer.model.name, prompt, shown: SHOWN, ...drawing };
    const found = await writer.wire.read(question, signal);
    if (signal.aborted) return;
    [writer.read, writer.prompt] = [found, prompt];
    showText(writer);
    showCandidates(writer);
    if (wasChoosing) announce(writer);
  });
  if (isOver && writer.prompt === null) showRefused(writer);
}

/**
 * Let the model continue a prompt that it has read, and show each token as it arrives.
 * @type {(writer: Writer, prompt: string, search: { beam?: number }) => Promise<void>}
 */
export async function goOn(writer, prompt, search) {
  stopWriter(writer);
  clearWritten(writer);
  writer.isWriting = true;
  // A beam search may change its best hypothesis until the end, so nothing can be shown earlier.
  if (search.beam && search.beam > 1) writer.facts.textContent = say("writer.searching", { beam: search.beam });
  showText(writer);
  writer.heard.changed();
  const isOver = await attempt(writer, async (signal) => {
    await writer.wire.write({ model: writer.model.name, prompt, ...search }, signal, {
      token: (/** @type {Token} */ token) => !signal.aborted && addToken(writer, token),
      done: (/** @type {any} */ found) => !signal.aborted && finish(writer, found),
    });
  });
  if (!isOver) return; // the code that cancelled it has cleaned up
  if (!writer.whole) writer.facts.textContent = "";
  writer.isWriting = false;
  writer.heard.changed();
}

/**
 * Send a request and report a refusal; returns false if the request was cancelled.
 * @type {(writer: Writer, work: (signal: AbortSignal) => Promise<void>) => Promise<boolean>}
 */
async function attempt(writer, work) {
  const { signal } = (writer.controller = new AbortController());
  writer.trouble.hidden = true;
  writer.root.setAttribute("aria-busy", true);
  try {
    await work(signal);
  } catch (error) {
    if (signal.aborted) return false;
    if (!writer.wire.isRefusal(error)) throw error;
    writer.trouble.textContent = /** @type {Error} */ (error).message;
    writer.trouble.hidden = false;
  } finally {
    if (!signal.aborted) writer.root.removeAttribute("aria-busy");
  }
  return !signal.aborted;
}

/**
 * Remove everything that belongs to the previous prompt after this one was refused.
 * @type {(writer: Writer) => void}
 */
function showRefused(writer) {
  writer.read = null;
  writer.table.replaceChildren();
  writer.rest.textContent = "";
  showText(writer);
}

// The text, token by token

/** @type {(writer: Writer) => void} */
function clearWritten(writer) {
  Object.assign(writer, { written: [], whole: "" });
  writer.facts.textContent = "";
  writer.takes.hidden = true;
}

/** @type {(writer: Writer) => void} */
function showText(writer) {
  const tokens = writer.read?.tokens ?? [];
  const parts = tokens.slice(-MOST_READ).map((/** @type {any} */ token) => tokenSpan(token, "prompted"));
  if (tokens.length > MOST_READ) parts.unshift("… ");
  writer.text.setAttribute("aria-label", say("writer.text", { model: writer.model.name }));
  writer.text.replaceChildren(...parts, ...writer.written.map((token, place) => writtenSpan(token, place)));
  writer.text.hidden = !writer.text.textContent;
  writer.takes.hidden = !writer.written.length;
}

/** @type {(token: Token, kind: string) => HTMLSpanElement} */
function tokenSpan({ text, score }, kind) {
  const ends = text === "\n" ? " line-end" : "";
  const span = element("span", { class: `tinted-token ${kind}${ends}`, title: percent(shareOf(score)) }, text);
  span.style.setProperty("--share", shareOf(score).toFixed(4));
  return span;
}

/**
 * A generated token; selecting it moves the text up to and including it into the prompt.
 * @type {(token: Token, place: number) => HTMLSpanElement}
 */
function writtenSpan(token, place) {
  const span = tokenSpan(token, "continued");
  Object.assign(span.dataset, { place });
  Object.assign(span, { tabIndex: place ? -1 : 0 });
  span.setAttribute("role", "button");
  span.setAttribute("aria-label", say("writer.up_to", { token: nameOf(token), share: percent(shareOf(token.score)) }));
  return span;
}

/** @type {(writer: Writer, token: Token) => void} */
function addToken(writer, token) {
  writer.written.push(token);
  writer.text.hidden = writer.takes.hidden = false;
  writer.text.append(writtenSpan(token, writer.written.length - 1));
}

/** @type {(writer: Writer, found: any) => void} */
function finish(writer, { texts: [best], seconds }) {
  writer.whole = best.text;
  const count = best.tokens.length;
  const facts = [say("writer.count", { count }), duration(seconds)];
  if (best.ended !== "tokens") facts.push(say(`writer.ended_by_${best.ended}`));
  if (best.forgotten) facts.push(say("writer.forgotten", { count: best.forgotten }));
  writer.facts.textContent = facts.join(" · ");
}

// The candidates for the next token

/** @type {(token: Token) => boolean} */
const isLineEnd = ({ text, end }) => end || text === "\n";

/**
 * A token as plain text.
 * @type {(each: Token) => string}
 */
const nameOf = (each) => (isLineEnd(each) ? say("writer.line_end") : spokenToken(each.token));

/**
 * A token as displayed parts.
 * @type {(each: Token) => Child[]}
 */
const shownParts = (each) => (isLineEnd(each) ? [say("writer.line_end")] : tokenParts(each.token));

/** @type {(writer: Writer) => void} */
function showCandidates(writer) {
  /** @type {Reading} */
  const { next, rest, perplexity, room, forgotten } = writer.read;
  const wasThere = writer.table.contains(document.activeElement);
  const most = Math.max(...next.map(({ probability, drawn }) => Math.max(probability, drawn ?? 0)), rest.probability);
  const lines = next.map((each, place) => nextLine(each, place, most));
  if (rest.count) lines.push(restLine(writer.read, most));
  writer.table.replaceChildren(element("tbody", {}, ...lines));
  const sentences = [say("writer.guess", { count: Math.round(perplexity) })];
  if (next.some(({ drawn }) => drawn !== null)) sentences.push(say("next.outlines"));
  if (room !== null) sentences.push(say("writer.room", { count: room }));
  if (forgotten) sentences.push(say("writer.prompt_forgotten", { count: forgotten }));
  writer.rest.textContent = sentences.join(" ");
  const picks = /** @type {HTMLElement[]} */ ([...writer.table.querySelectorAll(".pick:enabled")]);
  reachable(picks, picks[0]);
  if (wasThere) picks[0]?.focus();
}

/**
 * A token with its bar; if sampling changes the probability, an outline shows the model's own.
 * @type {(each: Token, place: number, most: number) => HTMLTableRowElement}
 */
function nextLine(each, place, most) {
  const { probability, drawn } = each;
  const label = say("writer.choose", { token: nameOf(each), share: percent(probability) });
  const able = each.text ? {} : { disabled: "", title: say("writer.part") };
  const pick = button({ class: "pick", "data-place": place, "aria-label": label, ...able }, ...shownParts(each));
  return element("tr", {}, element("th", { scope: "row" }, pick), shareCell(probability, drawn, most));
}

/** @type {(probability: number, drawn: number | null, most: number) => HTMLTableCellElement} */
function shareCell(probability, drawn, most) {
  const share = drawn ?? probability;
  const shown = drawn === 0 ? say("next.cut") : percent(share);
  const outline = drawn === null ? [] : [element("u")];
  const bar = element("div", { class: "bar" }, ...outline, element("i"), element("span", {}, shown));
  bar.style.setProperty("--share", (share / most).toFixed(5));
  bar.style.setProperty("--own-share", (probability / most).toFixed(5));
  return element("td", drawn === null ? {} : { class: drawn === 0 ? "drawn gone" : "drawn" }, bar);
}

/**
 * The row for all other tokens together.
 * @type {(coming: Reading, most: number) => HTMLTableRowElement}
 */
function restLine({ next, rest: { count, probability } }, most) {
  const isDrawn = next.some(({ drawn }) => drawn !== null);
  const left = 1 - next.reduce((sum, { drawn }) => sum + drawn, 0);
  const name = element("th", { scope: "row" }, say("next.others", { count }));
  const cell = shareCell(probability, isDrawn ? (left < ROUNDED ? 0 : left) : null, most);
  return element("tr", { class: "others" }, name, cell);
}

/**
 * Announce the likeliest tokens to users of screen readers who chose one by keyboard.
 * @type {(writer: Writer) => void}
 */
function announce(writer) {
  /** @type {Reading} */
  const { next } = writer.read;
  const likeliest = next.slice(0, 3).map((each) => `${nameOf(each)} ${percent(each.probability)}`);
  writer.said.textContent = say("writer.likeliest", { tokens: likeliest.join(", ") });
}

/** @type {(writer: Writer) => void} */
function listenToWriter(writer) {
  const { table, text, goes, takes, heard } = writer;
  table.addEventListener("click", (/** @type {any} */ { target }) => {
    const each = writer.read?.next[target.closest(".pick")?.dataset.place];
    if (each?.text) heard.chosen(writer.prompt, writer.read.stem + each.text, nameOf(each));
  });
  table.addEventListener("keydown", (event) => {
    const picks = /** @type {HTMLElement[]} */ ([...table.querySelectorAll(".pick:enabled")]);
    const from = picks.indexOf(/** @type {HTMLElement} */ (event.target));
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: picks.length - 1 };
    const to = from < 0 ? undefined : picks[steps[event.key]];
    if (!to) return;
    event.preventDefault();
    reachable(picks, to);
    to.focus();
  });
  /** @type {(place: number) => void} */
  const takeUpTo = (place) => {
    const stem = writer.read?.stem ?? "";
    const taken = writer.written.slice(0, place + 1).map((token) => token.text).join("");
    heard.chosen(writer.prompt, stem + taken, say("writer.taken", { count: place + 1, model: writer.model.name }));
  };
  takes.addEventListener("click", () => takeUpTo(writer.written.length - 1));
  text.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = target.dataset.place;
    if (place !== undefined && getSelection()?.isCollapsed) takeUpTo(Number(place)); // a selection is for copying
  });
  walkable(text, ".continued");
  text.addEventListener("keydown", (event) => {
    const token = /** @type {HTMLElement} */ (event.target);
    if (token.dataset.place === undefined || !["Enter", " "].includes(event.key)) return;
    event.preventDefault();
    token.click();
  });
  goes.addEventListener("click", () => heard.wanted(writer));
}
