// Which parts of an input made a model decide so: the words of the input tinted by each method's scores, how far to
// trust each map, or tables of what happens inside the model.

import {
  button, element, offer, percent, reachable, spokenToken, tokenParts, walkable, word,
} from "../parts/common.js";
import { savable } from "../parts/saving.js";
import { decimal, isSaid, say } from "../parts/texts.js";
import {
  areSplit, choiceParts, MOST_PARTS, partsOf, sharesOf, strongest, tintsOf, verdictOf,
} from "./reasons/scores.js";
import { tableSection } from "./tables.js";

/** @import { Part, ScoreMap, Tokens, Trust, Truth } from "./reasons/scores.js" */
/**
 * @typedef {object} Reasons
 * @property {string} chosen
 * @property {number | null} log_probability
 * @property {string[]} units
 * @property {Tokens | null} words
 * @property {Tokens | null} choices
 * @property {number[]} explained
 * @property {ScoreMap[]} maps
 * @property {Record<string, string>} refused
 * @property {any[]} tables
 */
/** @typedef {{ label: string, isChosen: boolean, choose: () => void }} Choice something that can be explained */
/**
 * @typedef {object} ReasonsView
 * @property {string} name
 * @property {HTMLElement} root
 * @property {Record<string, any>} parts
 * @property {((place: number) => void) | null} choose
 * @property {string} mode
 * @property {Reasons | null} found
 * @property {Choice[] | null} given choices that replace those of the answer
 */

const HEADLINE = "comprehensiveness"; // the figure of trust that is put into words
const LOW_IS_GOOD = ["sufficiency", "deletion"];

/**
 * Make room for the view; its ids begin with `name`. `choose` is called with the place, counted from 0, of what is to
 * be explained instead; without it, nothing can be chosen.
 * @type {(holder: HTMLElement, name: string, choose?: ((place: number) => void) | null) => ReasonsView}
 */
export function mountReasons(holder, name, choose = null) {
  const parts = {
    choices: element("div", { id: `${name}-choices`, class: "explainable", role: "group" }),
    title: element("p", { id: `${name}-chosen`, class: "reasons-title", role: "status" }),
    mode: element("fieldset", { id: `${name}-mode`, class: "unsaved" }, element("legend", {}, say("controls.mode"))),
    legend: legend(),
    trust: element("p", { class: "hint" }, say("trust.explained")),
    rows: element("div", { id: `${name}-rows`, class: "reason-rows" }),
    readout: element("p", { id: `${name}-readout`, class: "readout", role: "status" }),
    refused: element("ul", { id: `${name}-refused`, class: "refused", lang: "en" }),
    tables: element("div", { id: `${name}-tables` }),
  };
  const { choices, title, mode, rows, readout, refused, tables } = parts;
  choices.setAttribute("aria-label", say("reasons.choices"));
  const part = element("section", { class: "reasons", "aria-labelledby": `${name}-chosen` });
  part.append(title, parts.legend, mode, parts.trust, rows, readout, refused);
  holder.append(choices, part, tables);
  /** @type {ReasonsView} */
  const view = { name, root: part, parts, choose, mode: "words", found: null, given: null };
  savable(part, "why", () => view.found);
  walkable(choices, "button");
  mode.addEventListener("change", (/** @type {any} */ { target }) => {
    view.mode = target.value;
    if (view.found) showReasons(view, view.found, view.given);
  });
  return view;
}

function legend() {
  const bar = element("span", { class: "legend-bar", "aria-hidden": true });
  const ends = [element("span", {}, say("reasons.against")), bar, element("span", {}, say("reasons.in_favour"))];
  return element("p", { class: "legend" }, ...ends, element("small", {}, say("reasons.full")));
}

/**
 * Show what was found; `choices` replaces the choices of the answer.
 * @type {(view: ReasonsView, found: Reasons, choices?: Choice[] | null) => void}
 */
export function showReasons(view, found, choices = null) {
  const { parts } = view;
  [view.found, view.given] = [found, choices];
  showChoices(view, choices ?? ownChoices(view, found));
  const chance = found.log_probability === null ? "" : percent(Math.exp(found.log_probability));
  parts.title.textContent = say("reasons.title", { chosen: spokenToken(found.chosen), chance });
  const isScored = found.maps.length > 0;
  for (const name of ["legend", "rows", "readout"]) parts[name].hidden = !isScored;
  const modes = isScored && areSplit(found.words) ? ["words", "tokens"] : [];
  offer(parts.mode, modes, view.mode, (mode) => say(`modes.${mode}`));
  parts.readout.textContent = "";
  parts.rows.replaceChildren(...found.maps.map((map) => mapRow(view, found, map)));
  parts.trust.hidden = found.maps.length < 2 || !found.maps.some(({ trust }) => trust);
  const reasons = Object.entries(found.refused).map(([method, reason]) => `${methodName(method)}: ${reason}`);
  parts.refused.replaceChildren(...reasons.map((text) => element("li", {}, text)));
  parts.refused.hidden = !reasons.length;
  const tables = found.tables.map((table, place) => tableSection(table, `${view.name}-table-${place + 1}`));
  parts.tables.replaceChildren(...tables);
}

/**
 * Show how far to trust the displayed maps, which takes longer to find than the maps themselves.
 * @type {(view: ReasonsView, found: Reasons) => void}
 */
export function addTrust(view, found) {
  view.found = found;
  view.parts.trust.hidden = found.maps.length < 2;
  found.maps.forEach(({ trust }, place) => {
    if (trust) view.parts.rows.children[place].append(trustPart(trust, found.maps.length > 1));
  });
}

/** @type {(view: ReasonsView, found: Reasons) => Choice[]} */
function ownChoices(view, { choices, explained }) {
  const { choose } = view;
  if (!choices || !choose) return [];
  return choiceParts(choices, view.mode === "words").map(({ name, places }) => ({
    label: name,
    isChosen: places.some((place) => explained.includes(place)),
    choose: () => choose(places[0]),
  }));
}

/** @type {(view: ReasonsView, choices: Choice[]) => void} */
function showChoices({ parts }, choices) {
  const hadFocus = parts.choices.contains(document.activeElement);
  const made = choices.map(({ label, isChosen, choose }) => {
    const one = button({ class: "choice", "aria-pressed": isChosen, dir: "auto" }, ...tokenParts(label));
    one.addEventListener("click", choose);
    return one;
  });
  parts.choices.replaceChildren(...made);
  parts.choices.hidden = made.length < 2;
  const current = made[choices.findIndex(({ isChosen }) => isChosen)] ?? made[0] ?? null;
  reachable(made, current);
  if (hadFocus) current?.focus({ preventScroll: true });
}

/** @type {(method: string) => string} */
export function methodName(method) {
  const name = method.replaceAll("-", "_");
  return isSaid(`methods.${name}`) ? say(`methods.${name}`) : method;
}

/** @type {(method: string) => string} */
function aboutMethod(method) {
  const name = method.replaceAll("-", "_");
  return isSaid(`methods.${name}_about`) ? say(`methods.${name}_about`) : "";
}

/** @type {(view: ReasonsView, found: Reasons, map: ScoreMap) => HTMLElement} */
function mapRow(view, found, map) {
  const all = partsOf(found.units, map.scores, view.mode === "words" ? found.words : null);
  const shown = found.words ? all : strongest(all);
  const scores = shown.map(({ score }) => score);
  const [tints, shares] = [tintsOf(scores), sharesOf(scores)];
  const words = element("div", { class: found.words ? "reasoned-text" : "reasoned-units", dir: "auto", role: "group" });
  words.setAttribute("aria-label", methodName(map.method));
  const made = shown.map((part, place) => tintedPart(view, part, tints[place], shares[place]));
  words.append(...made.flatMap((each) => [each, " "]));
  reachable(made, made[0] ?? null);
  walkable(words, ".reasoned");
  const head = element("h3", {}, methodName(map.method), " ", element("small", {}, aboutMethod(map.method)));
  const counts = { shown: MOST_PARTS, count: all.length };
  const cut = shown.length < all.length ? [element("p", { class: "rest" }, say("reasons.cut", counts))] : [];
  const remarks = map.remarks.map((text) => element("p", { class: "rest", lang: "en" }, text));
  const trust = map.trust ? [trustPart(map.trust, found.maps.length > 1)] : [];
  const row = { class: "reason", "data-method": map.method };
  return element("div", row, head, element("div", {}, words, ...cut, ...remarks), ...trust);
}

/** @type {(view: ReasonsView, part: Part, tint: number, share: number) => HTMLElement} */
function tintedPart({ parts }, { name, score }, tint, share) {
  const said = say("reasons.score", { name: spokenToken(name), score: scoreText(score), share: shareText(share) });
  const side = tint < 0 ? "against" : "favour";
  const one = element("span", { class: `reasoned ${side}`, title: said, "aria-label": said, role: "img" });
  one.append(...tokenParts(name));
  one.style.setProperty("--share", Math.abs(tint).toFixed(4));
  for (const event of ["pointerenter", "focus"]) one.addEventListener(event, () => (parts.readout.textContent = said));
  return one;
}

/** @type {(score: number) => string} */
const scoreText = (score) => decimal(score, Math.abs(score) < 0.1 ? 4 : 3).replace("-", "−");

/** @type {(share: number) => string} */
const shareText = (share) => `${share < 0 ? "−" : ""}${percent(Math.abs(share))}`;

/**
 * How far to trust a map: in sentences, or in short beside other maps, with all figures below.
 * @type {(trust: Trust, isShort: boolean) => HTMLElement}
 */
function trustPart({ figures, truth }, isShort) {
  const figure = figures[HEADLINE];
  const verdict = verdictOf(figure);
  const values = { value: number(figure.value), random: number(figure.random), deviation: number(figure.deviation) };
  const headline = say(isShort ? "trust.short" : "trust.headline", values);
  const said = [element("b", {}, say(`trust.${verdict}`)), " ", headline];
  const known = truth ? [truthPart(truth, isShort)] : [];
  const more = element("details", {}, element("summary", {}, say("trust.figures")), figureTable(figures, truth));
  return element("div", { class: `trust ${verdict}` }, element("p", {}, ...said), ...known, more);
}

/** @type {(truth: Truth, isShort: boolean) => HTMLElement} */
function truthPart({ name, area }, isShort) {
  const said = say(isShort ? "trust.short_truth" : "trust.truth", { area: number(area.value) });
  return element("p", {}, said, ...(isShort ? [] : [" ", word(`(${name})`, "en")]));
}

/** @type {(figures: Trust["figures"], truth: Trust["truth"]) => HTMLElement} */
function figureTable(figures, truth) {
  const rows = Object.entries(figures).map(([name, { value, random, deviation }]) => {
    const good = say(LOW_IS_GOOD.includes(name) ? "trust.low" : "trust.high");
    return figureRow(name, number(value), `${number(random)} ± ${number(deviation)}`, good);
  });
  const agreements = truth ? { area: truth.area, mass: truth.mass, top: truth.top } : {};
  for (const [name, { value, random }] of Object.entries(agreements)) {
    rows.push(figureRow(name, number(value), number(random), say("trust.high")));
  }
  const names = ["trust.figure", "trust.map", "trust.random", "trust.good"];
  const heads = names.map((key) => element("th", { scope: "col" }, say(key)));
  return element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
}

/** @type {(name: string, ...cells: string[]) => HTMLElement} */
function figureRow(name, ...cells) {
  const head = element("th", { scope: "row", title: say(`trust.${name}_about`) }, say(`trust.${name}`));
  return element("tr", {}, head, ...cells.map((cell) => element("td", {}, cell)));
}

/** @type {(value: number | null) => string} */
const number = (value) => (value === null ? "–" : decimal(value, 2).replace("-", "−"));
