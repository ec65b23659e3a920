// The next token: the model's distribution, and the effect of temperature, top-k and the other options on it.

import { remember } from "../parts/address.js";
import {
  button, byId, choiceName, element, percent,
  reachable, section, spokenToken, tokenWord, walkable,
} from "../parts/common.js";
import { distribution, entropyOf, normalised, OFF } from "./next/filters.js";
import { savable } from "../parts/saving.js";
import { decimal, inLanguage, say, sayParts } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Child } from "../parts/common.js" */
/** @typedef {Record<string, number>} Example sampling options that are worth trying */
/** @typedef {{ pick?: (place: number) => void, go?: (at: number) => void }} Heard */
/**
 * @typedef {object} Coming
 * @property {string[]} before
 * @property {string[]} [after]
 * @property {string[]} tokens
 * @property {number | null} taken
 * @property {number[]} log_probabilities
 * @property {{ count: number, probability: number } | null} [rest]
 * @property {string} language
 * @property {number} [shown]
 * @property {Example[]} [examples]
 * @property {string} [outputs] the name of the output: "output", "translation" or "best"
 */

const SLIDERS = ["temperature", "top_k", "top_p", "min_p", "typical"];
/** @type {Example[]} */
const EXAMPLES = [{ temperature: 0.5 }, { temperature: 1.5 }, { top_k: 5 }, { top_p: 0.9 }];
const MOST_COUNTED = 100; // end of the top-k slider; its last position means all tokens

/** @type {Coming} */
let coming; // the candidates at one place, as passed to showNext
/** @type {Float64Array} */
let own = new Float64Array(); // the log-probabilities of the whole vocabulary, in descending order
/** @type {Float64Array} */
let ownShares = new Float64Array();
let options = { ...OFF };
let count = 0; // of displayed tokens
/** @type {Record<string, number[]>} */
let ranges = {};
/** @type {Heard} */
let heard = {}; // handlers for a picked token and for another place
/** @type {Example[] | null} */
let examplesShown = null;

/**
 * All log-probabilities: the given ones, and the rest spread evenly over the other tokens.
 * @type {(next: Coming) => Float64Array}
 */
function wholeVocabulary({ log_probabilities: known, rest }) {
  const { probability, count: unnamed } = rest?.probability ? rest : { probability: 0, count: 0 };
  const all = new Float64Array(known.length + unnamed).fill(unnamed ? Math.log(probability / unnamed) : 0);
  all.set(known);
  return all;
}

/**
 * Show the next token: `before` (tokens), `after` (tokens that follow the place in the output, if there is one),
 * `tokens` (names of the likeliest), `taken` (the place of the output's token among them, or null),
 * `log_probabilities`, `rest`, `language`, `shown` and `examples`.
 * @type {(next: Coming, wish: Wish) => void}
 */
export function showNext(next, wish) {
  coming = next;
  own = wholeVocabulary(next);
  ownShares = normalised(own).map(Math.exp);
  const counted = Math.min(own.length, Math.max(MOST_COUNTED, Number(wish.top_k) || 0)) + 1;
  ranges = {
    temperature: [0, Math.min(Math.max(Number(wish.temperature) || 0, 2), 100), 0.05],
    top_k: [1, counted, 1],
    top_p: [0.01, 1, 0.01],
    min_p: [0, 1, 0.01],
    typical: [0.01, 1, 0.01],
  };
  for (const [name, [min, max, step]] of Object.entries(ranges)) Object.assign(byId(name), { min, max, step });
  byId("shown").max = next.tokens.length;
  const wasAmongTokens = byId("tokens").contains(document.activeElement);
  showStrip();
  showExamples(next.examples ?? EXAMPLES);
  settle(wish);
  if (wasAmongTokens && heard.go) focusPlace(); // the pressed button no longer exists
}

/** Move the keyboard focus to the current place. */
export const focusPlace = () => byId("before").querySelector(".place")?.focus();

/**
 * The requested options, limited to valid values.
 * @type {(wish: Wish) => typeof OFF}
 */
function settledOptions(wish) {
  const found = { ...OFF };
  for (const name of namesOfOptions) {
    const value = Object.hasOwn(wish, name) && wish[name] !== "" ? Number(wish[name]) : NaN;
    const [, most] = ranges[name];
    const fits = value <= most && (value > 0 || (value === 0 && name === "temperature"));
    found[name] = fits ? (name === "top_k" ? Math.round(value) % most : value) : OFF[name];
  }
  return found;
}

const namesOfOptions = /** @type {(keyof typeof OFF)[]} */ (Object.keys(OFF));
const usualCount = () => Math.min(coming.shown ?? 12, coming.tokens.length);
/** @type {() => Example} */
const changedOptions = () => {
  const changed = namesOfOptions.filter((name) => options[name] !== OFF[name]);
  return Object.fromEntries(changed.map((name) => [name, options[name]]));
};

/** @type {(wish: Wish) => void} */
function settle(wish) {
  options = settledOptions(wish);
  const wanted = Math.round(Number(wish.shown)) || usualCount();
  count = Math.min(Math.max(wanted, 1), coming.tokens.length);
  drawNext();
}

/**
 * Change sampling options or the number of displayed tokens, and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeNext(wish) {
  settle({ shown: count, ...wish });
  const none = Object.fromEntries(Object.keys(OFF).map((name) => [name, null]));
  remember({ ...none, ...changedOptions(), shown: count === usualCount() ? null : count });
}

function drawNext() {
  namesOfOptions.forEach(showSlider);
  const asked = JSON.stringify(changedOptions());
  byId("examples").querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ each) => {
    each.setAttribute("aria-pressed", String(each.dataset.options === asked));
  });
  [byId("shown").value, byId("shown-value").value] = [count, count];
  const values = distribution(own, options);
  showSummary(values);
  showTokens(values.map(Math.exp));
}

/** @type {(name: keyof typeof OFF) => void} */
function showSlider(name) {
  const slider = byId(name);
  slider.value = name === "top_k" && !options.top_k ? ranges.top_k[1] : options[name];
  const text = name === "top_k" ? options.top_k || choiceName("all") : Number(options[name].toFixed(3));
  slider.parentElement.querySelector("output").value = text;
  slider.setAttribute("aria-valuetext", text);
  slider.parentElement.classList.toggle("set", options[name] !== OFF[name]);
}

/** @type {(values: Float64Array) => void} */
function showSummary(values) {
  const left = values.reduce((sum, value) => sum + Number(value > -Infinity), 0);
  /** @type {(each: Float64Array) => string} */
  const nats = (each) => decimal(Math.max(entropyOf(each), 0), 2);
  const sentences = [say("next.drawable", { count: left, all: own.length })];
  sentences.push(" ", say("next.entropy", { drawn: nats(values), own: nats(normalised(own)) }));
  if (coming.taken !== null) {
    const token = tokenWord(coming.tokens[coming.taken], coming.language);
    sentences.push(" ", ...sayParts(`next.${coming.outputs ?? "best"}_has`, { token }));
  }
  byId("summary").replaceChildren(...sentences);
}

/** @type {(shares: Float64Array) => void} */
function showTokens(shares) {
  /** @type {(from: Float64Array) => number} */
  const sum = (from) => from.slice(count).reduce((total, share) => total + share, 0);
  const lines = coming.tokens.slice(0, count).map((token, place) => {
    return tokenLine(tokenName(token, place), ownShares[place], shares[place], place === coming.taken ? "taken" : "");
  });
  const rest = say("next.others", { count: Math.max(0, own.filter(Number.isFinite).length - count) });
  byId("tokens").tBodies[0].replaceChildren(...lines, tokenLine(rest, sum(ownShares), sum(shares), "others"));
}

/**
 * The name of a token; a button if it can be picked.
 * @type {(token: string, place: number) => HTMLElement}
 */
function tokenName(token, place) {
  const name = tokenWord(token, coming.language);
  if (!heard.pick || place === coming.taken) return name;
  const label = say("next.pick", { token: spokenToken(token) });
  return button({ class: "pick", "data-place": place, "aria-label": label }, name);
}

/**
 * The row of one token, or of all others: its name, the model's probability, and the probability in sampling.
 * @type {(name: Child, before: number, after: number, kind: string) => HTMLTableRowElement}
 */
function tokenLine(name, before, after, kind) {
  const first = element("td", {}, bar(before, before, percent(before)));
  const isGone = after === 0 && before > 0;
  const drawn = bar(after, before, isGone ? say("next.cut") : percent(after));
  drawn.prepend(element("u"));
  const last = element("td", { class: isGone ? "drawn gone" : "drawn" }, drawn);
  return element("tr", kind ? { class: kind } : {}, element("th", { scope: "row" }, name), first, last);
}

/** @type {(share: number, before: number, text: string) => HTMLDivElement} */
function bar(share, before, text) {
  const made = element("div", { class: "bar" }, element("i"), element("span", {}, text));
  made.style.setProperty("--share", share.toFixed(5));
  made.style.setProperty("--own-share", before.toFixed(5));
  return made;
}

/** Show the tokens before the place, the place itself, and the tokens after it; a click moves to another place. */
function showStrip() {
  const { before, after = [], language } = coming;
  const isFree = !after.length;
  const pieces = [...before, ...(isFree ? ["?"] : after)].map((piece, at) => {
    const kind = at === before.length ? "place" : at < before.length ? "piece" : "piece behind";
    const name = isFree && at === before.length ? piece : tokenWord(piece, language);
    if (!heard.go) return element("span", { class: kind }, name);
    const isHere = at === before.length ? { "aria-current": "true" } : {};
    return button({ class: kind, "data-at": at, ...isHere }, name);
  });
  const hadFocus = byId("before").contains(document.activeElement);
  byId("before").replaceChildren(...pieces);
  if (!heard.go) return;
  reachable(pieces, pieces[before.length]);
  if (hadFocus) focusPlace();
}

/** @type {(examples: Example[]) => void} */
function showExamples(examples) {
  if (examplesShown === examples) return;
  examplesShown = examples;
  byId("examples").replaceChildren(...[{}, ...examples].map(exampleButton));
}

/** @type {(name: string) => HTMLDivElement} */
function sliderOf(name) {
  const input = element("input", { type: "range", id: name, "aria-describedby": `${name}-what` });
  const head = [element("label", { for: name }, say(`next.${name}`)), element("output", { for: name })];
  const about = element("span", { class: "what", id: `${name}-what` }, say(`next.${name}_does`));
  return element("div", { class: "slider" }, ...head, input, about);
}

/** @type {(example: Example) => HTMLButtonElement} */
function exampleButton(example) {
  const names = Object.entries(example).map(([name, value]) => `${say(`next.${name}`)} ${inLanguage(value)}`);
  return button({ "data-options": JSON.stringify(example) }, names.join(", ") || say("next.as_it_is"));
}

/**
 * Mount the view. `pick` is called with the place of the token to continue with, `go` with another place in the output.
 * @type {(holder: HTMLElement, listeners?: Heard) => void}
 */
export function mountNext(holder, listeners = {}) {
  heard = listeners;
  const strip = element("div", { id: "before", role: "toolbar", "aria-label": say("next.strip") });
  const sliders = element("form", { id: "sliders", "aria-label": say("next.options") });
  sliders.append(...SLIDERS.map(sliderOf));
  const examples = element("p", { id: "examples", role: "group", "aria-label": say("next.examples") });
  const sampling = section("sampling", say("next.sampling"), sliders, examples);
  const tokens = mountTokens();
  holder.append(strip, element("div", { class: "drawing-from" }, sampling, tokens));
  savable(tokens, "next-token", numbersOfNext);
  walkable(strip, "[data-at]");
  strip.addEventListener("click", (/** @type {any} */ { target }) => {
    const at = target.closest("[data-at]")?.dataset.at;
    if (at !== undefined) heard.go?.(Number(at));
  });
  sliders.addEventListener("input", (/** @type {any} */ { target }) => {
    changeNext({ ...options, [target.id]: target.value });
  });
  sliders.addEventListener("submit", (event) => event.preventDefault());
  examples.addEventListener("click", (/** @type {any} */ { target }) => {
    if (target.dataset.options) changeNext(JSON.parse(target.dataset.options));
  });
}

function mountTokens() {
  const titles = ["token", "own", "drawn"].map((name) => element("th", { scope: "col" }, say(`next.column_${name}`)));
  const head = element("thead", {}, element("tr", {}, ...titles));
  const table = element("table", { id: "tokens", "aria-labelledby": "tokens-title" }, head, element("tbody"));
  const hints = heard.pick ? [say("next.outlines"), " ", say("next.picking")] : [say("next.outlines")];
  const hint = element("p", { class: "hint unsaved" }, ...hints);
  const range = element("input", { type: "range", id: "shown", min: 1, step: 1 });
  const label = element("label", { for: "shown" }, say("next.shown"));
  const value = element("output", { id: "shown-value", for: "shown" });
  const below = element("p", { class: "below unsaved" }, label, range, value);
  const summary = element("p", { id: "summary", role: "status" });
  const made = section("tokens", say("next.title"), summary, hint, table, below);
  range.addEventListener("input", (/** @type {any} */ { target }) => changeNext({ ...options, shown: target.value }));
  table.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = target.closest(".pick")?.dataset.place;
    if (place !== undefined) heard.pick?.(Number(place));
  });
  return made;
}

/** The displayed data. */
function numbersOfNext() {
  const drawn = distribution(own, options).map(Math.exp);
  const tokens = coming.tokens.map((token, place) => {
    return { token, probability: ownShares[place], drawn_from: drawn[place], taken: place === coming.taken };
  });
  return { before: coming.before, vocabulary: own.length, options, tokens };
}
