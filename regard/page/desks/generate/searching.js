// How a prompt is continued: by which search, and how far.

import { remember } from "../../parts/address.js";
import { byId, element, offer } from "../../parts/common.js";
import { say } from "../../parts/texts.js";

/** @import { Wish } from "../../parts/address.js" */
/** @import { Model } from "../../parts/server.js" */
/** @typedef {{ usual: number, min: number, max?: number, step: number | string }} Bounds */

// Each search with its options; `tokens` applies to all.
/** @type {Record<string, string[]>} */
const SEARCHES = { draw: ["temperature", "top_k", "top_p", "seed"], greedy: [], beam: ["beam"] };
// The options, each with its bounds and its default.
/** @type {Record<string, Bounds>} */
const NUMBERS = {
  tokens: { usual: 50, min: 1, step: 1 },
  temperature: { usual: 1, min: 0, step: 0.05 },
  top_k: { usual: 0, min: 0, step: 1 },
  top_p: { usual: 1, min: 0.01, step: 0.01 },
  seed: { usual: 1, min: 0, step: 1 },
  beam: { usual: 4, min: 1, step: 1 },
};
const [USUAL] = Object.keys(SEARCHES);
let offered = Object.keys(SEARCHES);

const chosen = () => byId("search").querySelector("input:checked")?.value ?? USUAL;
/** @type {(names: string[]) => Record<string, number>} */
const valuesOf = (names) => Object.fromEntries(names.map((name) => [name, valueOf(name)]));

/** @type {(name: string) => number} */
function valueOf(name) {
  const { value } = byId(`generate-${name}`);
  return value === "" ? NUMBERS[name].usual : Number(value);
}

/**
 * The search options of a request, without the prompt.
 * @returns {{ tokens: number, past_end: boolean, beam?: number, sample?: Record<string, number> }}
 */
export function searchWanted() {
  const search = chosen();
  const common = { tokens: valueOf("tokens"), past_end: byId("past-end").checked };
  if (search === "draw") return { ...common, sample: valuesOf(SEARCHES.draw) };
  return { ...common, beam: search === "greedy" ? 1 : valueOf("beam") };
}

/** The sampling options for showing a filtered distribution; empty if sampling filters nothing. */
export function drawingWanted() {
  const { seed, ...options } = searchWanted().sample ?? {};
  return Object.entries(options).some(([name, value]) => value !== NUMBERS[name].usual) ? { sample: options } : {};
}

/**
 * What a model with a limited context does once it is full; the recipe sets the default.
 * @type {(model: Model) => Record<string, string>}
 */
export function fullnessWanted({ context }) {
  return context && byId("forgets").checked ? { when_full: "forget" } : {};
}

/**
 * Show the requested search.
 * @type {(wish: Wish) => void}
 */
export function followSearch(wish) {
  for (const [name, { usual }] of Object.entries(NUMBERS)) byId(`generate-${name}`).value = wish[name] ?? usual;
  byId("past-end").checked = wish.lines !== "one";
  byId("forgets").checked = wish.full === "forget";
  settleSearch(offered.includes(wish.search) ? wish.search : USUAL);
}

/**
 * Show the options of one search and hide the others.
 * @type {(search: string) => void}
 */
function settleSearch(search) {
  offer(byId("search"), offered, search, (name) => say(`search.by_${name}`));
  for (const name of Object.keys(NUMBERS)) {
    byId(`generate-${name}`).parentElement.hidden = name !== "tokens" && !SEARCHES[search].includes(name);
  }
}

function rememberSearch() {
  /** @type {(entry: [string, Bounds]) => [string, number | null]} */
  const changed = ([name, { usual }]) => [name, valueOf(name) === usual ? null : valueOf(name)];
  const search = chosen() === USUAL ? null : chosen();
  const lines = byId("past-end").checked ? null : "one";
  const full = byId("forgets").checked ? "forget" : null;
  remember({ search, lines, full, ...Object.fromEntries(Object.entries(NUMBERS).map(changed)) });
}

/**
 * The controls; `changed` is called when the search or one of its options changes. `searches` are those on offer.
 * @type {(limits: Record<string, number>, hasContext: boolean, changed: () => void, searches?: string[]) =>
 *   HTMLElement}
 */
export function searchControls(limits, hasContext, changed, searches = offered) {
  offered = searches;
  /** @type {(entry: [string, Bounds]) => HTMLElement} */
  const number = ([name, { usual, ...bounds }]) => {
    const most = { ...(limits[name] && { max: limits[name] }), ...(name === "top_p" && { max: 1 }) };
    const field = element("input", { id: `generate-${name}`, type: "number", value: usual, ...bounds, ...most });
    return element("label", { class: "setting" }, say(`search.${name}`), field);
  };
  const search = element("fieldset", { id: "search" }, element("legend", {}, say("search.title")));
  /** @type {(id: string, text: string) => HTMLLabelElement} */
  const box = (id, text) => element("label", { class: "setting" }, element("input", { id, type: "checkbox" }), text);
  const [lines, forgets] = [box("past-end", say("search.lines")), box("forgets", say("search.forgets"))];
  forgets.hidden = !hasContext;
  const numbers = Object.entries(NUMBERS).map(number);
  const group = element("div", { id: "searching", class: "numbers-row" }, search, ...numbers, lines, forgets);
  group.addEventListener("change", () => {
    settleSearch(chosen());
    rememberSearch();
    changed();
  });
  return group;
}
