// Languages and models: the pairs that the loaded models cover, and the models shown side by side for a pair.

import { remember, wished, wishedAll } from "../../parts/address.js";
import { byId, element } from "../../parts/common.js";
import { language, say } from "../../parts/texts.js";

/** @import { Model } from "../../parts/server.js" */
/** @typedef {{ code: string, name: string }} Language */

const MOST_AT_FIRST = 2; // models side by side by default

/** @type {Model[]} */
let models = [];
/** @type {() => void} */
let changed;

const names = new Intl.DisplayNames([language], { type: "language", fallback: "none" });

/**
 * The browser's name for a language, or nothing if the code is invalid.
 * @type {(code: string) => string | undefined}
 */
function nameInBrowser(code) {
  try {
    return names.of(code);
  } catch {
    return "";
  }
}

/**
 * The name of a language in the language of the page, or the server's name if the browser has none.
 * @type {(language: Language) => string}
 */
export function languageName({ code, name }) {
  return nameInBrowser(code) || name || code || say("pair.unnamed");
}
/** @type {(from: string) => Model[]} */
const pairsFrom = (from) => models.filter(({ source }) => source.code === from);
const alike = () => pairsFrom(byId("from").value).filter(({ target }) => target.code === byId("to").value);

/**
 * The chosen models, in the order of the server's list.
 * @type {() => Model[]}
 */
export function chosenModels() {
  const names = new Set([...byId("models").querySelectorAll("input:checked")].map(({ value }) => value));
  return alike().filter(({ name }) => names.has(name));
}

/** @type {(select: HTMLSelectElement, languages: Language[], wanted: string) => void} */
function offerLanguages(select, languages, wanted) {
  const distinct = new Map(languages.map((each) => [each.code, languageName(each)]));
  select.replaceChildren(...[...distinct].map(([value, name]) => element("option", { value }, name)));
  select.value = distinct.has(wanted) ? wanted : [...distinct.keys()][0];
}

/**
 * List the languages and models, and select the requested ones, or else those that were selected before.
 * @type {(from: string, to: string, names: string[]) => void}
 */
function settlePair(from, to, names) {
  offerLanguages(byId("from"), models.map(({ source }) => source), from);
  offerLanguages(byId("to"), pairsFrom(byId("from").value).map(({ target }) => target), to);
  /** @type {(model: Model) => boolean} */
  const back = ({ source, target }) => source.code === byId("to").value && target.code === byId("from").value;
  byId("swap").disabled = !models.some(back);
  const there = alike().map(({ name }) => name);
  const wanted = there.filter((name) => names.includes(name));
  offerModels(there, wanted.length ? wanted : there.slice(0, MOST_AT_FIRST));
}

/** @type {(names: string[], chosen: string[]) => void} */
function offerModels(names, chosen) {
  byId("models").querySelectorAll("label").forEach((/** @type {Element} */ label) => label.remove());
  byId("models").hidden = names.length < 2;
  for (const value of names) {
    const box = element("input", { type: "checkbox", value, ...(chosen.includes(value) ? { checked: "" } : {}) });
    byId("models").append(element("label", {}, box, element("span", {}, value)));
  }
}

/** Select the languages and models that the address names. */
export function choosePair() {
  const { from, to } = wished();
  settlePair(from, to, wishedAll("models"));
}

function tellPair() {
  const names = chosenModels().map(({ name }) => name);
  const usual = alike().slice(0, MOST_AT_FIRST).map(({ name }) => name);
  const isUsual = String(names) === String(usual);
  remember({ from: byId("from").value, to: byId("to").value, models: isUsual ? null : names });
  changed();
}

/**
 * List the server's models; `change` is called when the selection changes.
 * @type {(served: Model[], change: () => void) => void}
 */
export function mountChoosing(served, change) {
  [models, changed] = [served, change];
  choosePair();
  byId("pair").addEventListener("change", (/** @type {any} */ { target }) => {
    const names = chosenModels().map(({ name }) => name);
    if (target.type === "checkbox" && !names.length) target.checked = true; // at least one stays checked
    if (target.type !== "checkbox") settlePair(byId("from").value, byId("to").value, names);
    tellPair();
  });
  byId("swap").addEventListener("click", () => {
    settlePair(byId("to").value, byId("from").value, []);
    tellPair();
  });
  byId("pair").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
}

export const sideNames = () => ["from", "to"].map((side) => byId(side).selectedOptions[0]?.textContent ?? "");
