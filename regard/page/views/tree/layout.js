// The beam search as a tree. The data assign a lane to each hypothesis, so that no two links cross; this module makes
// columns as wide as their tokens and draws the links.

import { byId, button, drawing, element, signed, spokenToken, tokenWord } from "../../parts/common.js";
import { outputLine } from "../../parts/outputs.js";
import { say } from "../../parts/texts.js";

const [TOP, GAP, LANE] = [22, 30, 52]; // pixels: above the first lane, before a column, from lane to lane
const FATES = ["won", "kept", "outdone", "dropped", "open"]; // that have a colour

/**
 * @typedef {object} Hypothesis
 * @property {string} token
 * @property {string} text
 * @property {number} step
 * @property {number | null} parent
 * @property {number} log_probability
 * @property {number} total
 * @property {number | null} score of a finished hypothesis
 * @property {number | null} rank of an output
 * @property {string} fate
 */
/**
 * @typedef {object} Beam
 * @property {number} width
 * @property {boolean} leftwards whether the target is read from the right
 * @property {{ language: string }} target
 * @property {Hypothesis[]} nodes
 * @property {number[]} outputs
 * @property {Record<string, (number | null)[]>} lanes
 */

/** @type {Beam} */
export let beam; // the hypotheses and the data common to all
export let extent = "all"; // or "outputs": only hypotheses that led to one
/** @type {HTMLButtonElement[]} */
export let boxes = []; // the elements of the hypotheses
/** @type {SVGPathElement[]} */
export let paths = []; // the elements of the links that lead to them
/** @type {Set<number>} */
let winning = new Set();
/** @type {Set<number>} */
let lasting = new Set();

/**
 * A hypothesis and all its ancestors, starting with the first token.
 * @param {number} place
 */
export function pathTo(place) {
  const found = [];
  /** @type {number | null} */
  let at = place;
  for (; at !== null; at = beam.nodes[at].parent) found.unshift(at);
  return found;
}

/**
 * The lane of a displayed hypothesis.
 * @param {number} place
 */
export const laneOf = (place) => beam.lanes[extent][place] ?? 0;

/** @param {number} place */
export const isShown = (place) => beam.lanes[extent][place] !== null;

/** @type {(place: number) => string} */
const fateOf = (place) => (winning.has(place) ? "won" : beam.nodes[place].fate);
/** @type {(place: number) => number} */
const standing = (place) => Number(winning.has(place)) + Number(lasting.has(place));

/**
 * Load another beam search: its hypotheses, their links, the legend, and its outputs.
 * @type {(found: Beam) => void}
 */
export function build(found) {
  beam = found;
  winning = new Set(beam.outputs.length ? pathTo(beam.outputs[0]) : []);
  lasting = new Set(beam.outputs.flatMap(pathTo));
  boxes = beam.nodes.map(boxOf);
  paths = beam.nodes.map((node, place) => {
    const role = winning.has(place) ? "link won" : lasting.has(place) ? "link lasting" : "link";
    const width = (1 + 3 * Math.exp(Math.min(node.log_probability, 0))).toFixed(2);
    return drawing("path", { class: role, "stroke-width": width });
  });
  // Links that lead to outputs are drawn above the others.
  const order = beam.nodes.map((_, place) => place).sort((one, other) => standing(one) - standing(other));
  byId("links").replaceChildren(...order.map((place) => paths[place]));
  byId("tree").replaceChildren(byId("links"), ...boxes);
  byId("tree").classList.toggle("mirrored", beam.leftwards);
  boxes[0].tabIndex = 0;
  describe();
}

/** @type {(node: Hypothesis, place: number) => HTMLButtonElement} */
function boxOf(node, place) {
  const finished = node.score !== null;
  const number = signed(node.score ?? node.total);
  const token = element("span", { class: `token ${fateOf(place)}` }, tokenWord(node.token, beam.target.language));
  const rank = node.rank ? [element("span", { class: "rank" }, String(node.rank))] : [];
  const { token: piece, step, text } = node;
  const label = say("tree.node", { token: spokenToken(piece), step, text });
  const kind = finished ? "node finished" : "node";
  const attributes = { class: kind, tabindex: -1, "data-place": place, "aria-label": label };
  return button(attributes, token, element("span", { class: "number" }, number), ...rank);
}

function describe() {
  const steps = beam.nodes.reduce((most, { step }) => Math.max(most, step), 0);
  byId("tree-caption").textContent = say("tree.caption", { width: beam.width, count: steps });
  /** @type {(fate: string) => boolean} */
  const there = (fate) => beam.nodes.some((node) => node.fate === fate);
  /** @type {(fate: string) => HTMLSpanElement} */
  const sign = (fate) => element("span", { class: `token ${fate}`, "aria-hidden": true });
  const fates = FATES.filter(there);
  byId("key").replaceChildren(...fates.map((fate) => element("li", {}, sign(fate), say(`tree.${fate}`))));
  const { language } = beam.target;
  byId("outputs").replaceChildren(...beam.outputs.map((place) => outputLine(beam.nodes[place], language, place)));
}

/**
 * The end of each column, from the side where reading starts.
 * @param {number[]} widths
 */
export function columnEnds(widths) {
  let end = 0;
  return widths.map((width) => (end += GAP + width));
}

/**
 * Make columns as wide as their widest token; they start at the right if the target is read from the right.
 * @type {(wanted?: string) => void}
 */
export function layOutTree(wanted = extent) {
  extent = wanted;
  boxes.forEach((box, place) => {
    box.hidden = !isShown(place);
    box.style.width = "";
  });
  /** @type {number[]} */
  const widths = [];
  boxes.forEach((box, place) => {
    const column = beam.nodes[place].step - 1;
    widths[column] = Math.max(widths[column] ?? 0, box.hidden ? 0 : Math.ceil(box.offsetWidth));
  });
  const ends = columnEnds(widths);
  const whole = ends[ends.length - 1] + GAP;
  /** @type {(x: number) => number} */
  const across = (x) => (beam.leftwards ? whole - x : x);
  boxes.forEach((box, place) => {
    const column = beam.nodes[place].step - 1;
    const left = Math.min(across(ends[column]), across(ends[column] - widths[column]));
    const top = TOP + LANE * laneOf(place);
    Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${widths[column]}px` });
  });
  drawBranches(ends, widths, across);
  showSteps(ends, widths, across);
  const lanes = Math.max(...boxes.map((_, place) => laneOf(place))) + 1;
  Object.assign(byId("tree").style, { width: `${whole}px`, height: `${TOP + LANE * lanes}px` });
}

/**
 * Draw curves that bend in the gap before a column; more probable tokens have wider curves.
 * @type {(ends: number[], widths: number[], across: (x: number) => number) => void}
 */
function drawBranches(ends, widths, across) {
  const token = /** @type {HTMLElement} */ (boxes[0].querySelector(".token"));
  const middle = token.offsetHeight / 2;
  /** @param {number | null} place */
  const height = (place) => TOP + LANE * (place === null ? 0 : laneOf(place)) + middle;
  beam.nodes.forEach((node, place) => {
    paths[place].toggleAttribute("hidden", !isShown(place));
    if (!isShown(place)) return;
    const column = node.step - 1;
    const [from, to] = [ends[column - 1] ?? 4, ends[column] - widths[column]].map(across);
    const bend = (from + to) / 2;
    const [y1, y2] = [height(node.parent), height(place)];
    paths[place].setAttribute("d", `M${from},${y1} C${bend},${y1} ${bend},${y2} ${to},${y2}`);
  });
}

/** @type {(ends: number[], widths: number[], across: (x: number) => number) => void} */
function showSteps(ends, widths, across) {
  byId("tree").querySelectorAll(".step").forEach((/** @type {Element} */ old) => old.remove());
  const steps = widths.map((width, column) => {
    const step = element("span", { class: "step", "aria-hidden": true }, String(column + 1));
    const left = Math.min(across(ends[column]), across(ends[column] - width));
    Object.assign(step.style, { left: `${left}px`, width: `${width}px` });
    return step;
  });
  byId("tree").prepend(...steps);
}
