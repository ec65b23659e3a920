// Two lines of words with links between them: the keys above, the queries below. Pointing at a word shows what
// it attends to and what attends to it; in self-attention a word is both.

import { byId, drawing, element, reachable, section, tokenParts } from "../../parts/common.js";
import { listenToLinks } from "./dragging.js";
import { isEdited, lookingSides, relink, shown, sight, state, title, weightAt, wordOf } from "./state.js";
import { say, sayParts } from "../../parts/texts.js";

/** @import { Party, Side } from "./state.js" */
/** @typedef {"rows" | "columns"} LineName */
/** @typedef {{ line: LineName, place: number }} At a word of a line */

const FAINTEST = 0.03; // links with a smaller weight are not drawn
const MOST_TOLD = 6; // weights named in a sentence

/** @type {At | null} */
let active = null; // the highlighted word: { line: "rows" or "columns", place }
let pinned = false; // whether it stays highlighted when the pointer leaves
/** @type {{ words: Side, side: string } | null} */
let linesShown = null; // the words in the lines, and their side
/** @type {{ row: number, column: number, weight: number, path: SVGPathElement }[]} */
let strands = []; // the links: { row, column, weight, path }, the strongest last

/** @type {(line: string) => HTMLButtonElement[]} */
const wordsIn = (line) => [...byId(line).children];
const isSelf = () => lookingSides()[0] === lookingSides()[1];
const isBeside = () => byId("lines").classList.contains("beside");
/** @type {(one: At | null, other: At | null) => boolean} */
const same = (one, other) => one?.line === other?.line && one?.place === other?.place;

export function showLines() {
  byId("links-title").textContent = say("lines.titled", { what: title() });
  if (linesShown?.words !== shown() || linesShown.side !== state.side) {
    linesShown = { words: shown(), side: state.side };
    [active, pinned] = [null, false];
    const [looksFrom, looksAt] = lookingSides();
    fillLine("columns", looksAt, "looked_at");
    fillLine("rows", looksFrom, "looking");
  }
  layOutLines();
}

/** @type {(line: LineName, side: Party, what: string) => void} */
function fillLine(line, side, what) {
  const common = { type: "button", class: "word", dir: "auto", lang: sight[side].language };
  const words = shown()[line].map((text, place) => {
    return element("button", { ...common, tabindex: place ? -1 : 0 }, ...tokenParts(text));
  });
  byId(line).replaceChildren(...words);
  byId(line).setAttribute("aria-label", say(`lines.${side}_${what}`));
  byId(line).dir = directionOf(sight[side].text);
}

/**
 * The reading direction of a text, as the browser determines it.
 * @type {(text: string) => string}
 */
function directionOf(text) {
  const probe = element("bdi", {}, text);
  byId("lines").append(probe);
  const { direction } = getComputedStyle(probe);
  probe.remove();
  return direction;
}

/** Put the lines above each other if both fit and have the same direction, otherwise side by side. */
export function layOutLines() {
  const holder = byId("lines");
  holder.classList.remove("beside");
  const tooWide = ["rows", "columns"].some((line) => byId(line).scrollWidth > holder.clientWidth + 1);
  holder.classList.toggle("beside", tooWide || byId("rows").dir !== byId("columns").dir);
  drawLinks();
  point(active);
}

/**
 * Highlight a word, or none: its links, the words at their other ends, and sentences about it.
 * @type {(at: At | null) => void}
 */
function point(at) {
  active = at;
  const looks = at && (at.line === "rows" || isSelf()) ? at : null;
  const looked = at && (at.line === "columns" || isSelf()) ? at : null;
  tint("columns", "looked-at", (column) => (looks ? weightAt(looks.place, column) : 0));
  tint("rows", "looks", (row) => (looked ? weightAt(row, looked.place) : 0));
  shadeLinks();
  const sentences = [];
  if (looks) sentences.push(told(looks, "rows", "looks_at", "columns", (column) => weightAt(looks.place, column)));
  if (looked) sentences.push(told(looked, "columns", "looked_at_by", "rows", (row) => weightAt(row, looked.place)));
  const howTo = element("span", { class: "unsaved" }, say("lines.hint"));
  byId("readout").replaceChildren(...(at ? sentences : [howTo]));
}

/** @type {(line: LineName, name: string, weightOf: (place: number) => number) => void} */
function tint(line, name, weightOf) {
  wordsIn(line).forEach((button, place) => {
    const weight = weightOf(place);
    const isActive = same(active, { line, place });
    button.classList.toggle(name, weight >= FAINTEST);
    button.classList.toggle("active", isActive);
    button.setAttribute("aria-pressed", String(isActive && pinned));
    button.style.setProperty("--weight", weight.toFixed(3));
  });
}

/**
 * One sentence: the active word, and where most of its attention goes to or comes from.
 * @type {(at: At, line: LineName, how: string, other: LineName, weightOf: (place: number) => number) => HTMLElement}
 */
function told({ place: at }, line, how, otherLine, weightOf) {
  const [looksFrom, looksAt] = lookingSides();
  const [side, otherSide] = line === "rows" ? [looksFrom, looksAt] : [looksAt, looksFrom];
  const most = shown()[otherLine]
    .map((text, place) => ({ text, weight: weightOf(place) }))
    .filter(({ weight }) => weight >= 0.01)
    .sort((one, other) => other.weight - one.weight);
  const shares = most.slice(0, MOST_TOLD).map(({ text, weight }) => {
    const share = element("span", { class: "share" }, wordOf(text, otherSide), ` ${Math.round(weight * 100)}\u202f%`);
    share.style.setProperty("--weight", weight.toFixed(3));
    return share;
  });
  const subject = element("b", {}, wordOf(shown()[line][at], side));
  const ends = element("span", {}, ...shares.flatMap((share, place) => (place ? [" ", share] : [share])));
  if (most.length > MOST_TOLD) ends.append(" ", say("lines.more", { count: most.length - MOST_TOLD }));
  if (!most.length) ends.append(say("lines.nothing"));
  return element("p", { class: line === "rows" ? "out" : "in" }, ...sayParts(`lines.${how}`, { subject, ends }));
}

/**
 * The role of the active word in a link from a row to a column: query ("out"), key ("in"), or neither.
 * @type {(row: number, column: number) => "out" | "in" | "faded"}
 */
function roleOf(row, column) {
  if (!active) return "out";
  if (row === active.place && (active.line === "rows" || isSelf())) return "out";
  if (column === active.place && (active.line === "columns" || isSelf())) return "in";
  return "faded";
}

/** Draw the links as curves that meet both words at a right angle. */
function drawLinks() {
  const [rows, columns] = [linkEnds("rows", "left", "top"), linkEnds("columns", "right", "bottom")];
  strands = [];
  rows.forEach((from, row) =>
    columns.forEach((to, column) => {
      const weight = weightAt(row, column);
      if (weight >= FAINTEST) strands.push({ row, column, weight, path: strand(from, to, row, column) });
    }),
  );
  strands.sort((one, other) => one.weight - other.weight);
  byId("grips").replaceChildren(...(relink ? strands.map(({ path }) => grip(path)) : []));
}

/**
 * A wide, invisible curve over a link, by which it can be dragged.
 * @type {(path: SVGPathElement) => SVGPathElement}
 */
function grip(path) {
  const { row, column } = path.dataset;
  return drawing("path", { d: path.getAttribute("d") ?? "", class: "grip", "data-row": row, "data-column": column });
}

/**
 * @param {number[]} from
 * @param {number[]} to
 * @param {number} row
 * @param {number} column
 */
function strand([x1, y1], [x2, y2], row, column) {
  const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const bends = isBeside() ? `${x},${y1} ${x},${y2}` : `${x1},${y} ${x2},${y}`;
  const width = (1 + 2.5 * weightAt(row, column)).toFixed(2);
  const curve = `M${x1},${y1} C${bends} ${x2},${y2}`;
  return drawing("path", { d: curve, "stroke-width": width, "data-row": row, "data-column": column });
}

/** Draw the links of the active word as dark as they are strong and on top; all others fade. */
function shadeLinks() {
  /** @type {SVGElement[][]} */
  const [faded, lit] = [[], []];
  for (const { row, column, weight, path } of strands) {
    const role = roleOf(row, column);
    path.setAttribute("class", `strand ${role}${isEdited(row, column) ? " edited" : ""}`);
    path.setAttribute("stroke-opacity", (role === "faded" ? weight * 0.12 : weight).toFixed(3));
    (role === "faded" ? faded : lit).push(path);
  }
  byId("strands").replaceChildren(...faded, ...lit);
}

/**
 * The end points of the links of a line: the middle of one edge of each word.
 * @type {(line: LineName, edgeBeside: "left" | "right", edgeAbove: "top" | "bottom") => number[][]}
 */
function linkEnds(line, edgeBeside, edgeAbove) {
  const origin = byId("lines").getBoundingClientRect();
  return wordsIn(line).map((button) => {
    const box = button.getBoundingClientRect();
    const x = isBeside() ? box[edgeBeside] : box.left + box.width / 2;
    const y = isBeside() ? box.top + box.height / 2 : box[edgeAbove];
    return [x - origin.left, y - origin.top].map((place) => Math.round(place * 10) / 10);
  });
}

/** @type {(target: any) => At | null} */
const placeOf = (target) => {
  const button = target?.closest?.(".word");
  return button ? { line: button.parentElement.id, place: wordsIn(button.parentElement.id).indexOf(button) } : null;
};

/**
 * The word that a key leads to: along the line, at its ends, or in the other line.
 * @type {(at: At, key: string) => At | null}
 */
function stepFrom({ line, place }, key) {
  const along = isBeside() ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  const [back, on] = !isBeside() && byId(line).dir === "rtl" ? along.reverse() : along;
  const last = shown()[line].length - 1;
  /** @type {Record<string, number>} */
  const moves = { [back]: Math.max(place - 1, 0), [on]: Math.min(place + 1, last), Home: 0, End: last };
  if (Object.hasOwn(moves, key)) return { line, place: moves[key] };
  if (!key.startsWith("Arrow")) return null;
  const other = line === "rows" ? "columns" : "rows";
  return { line: other, place: Math.round((place / Math.max(last, 1)) * (shown()[other].length - 1)) };
}

/**
 * Build the lines.
 * @type {(holder: HTMLElement) => HTMLElement}
 */
export function mountLines(holder) {
  /** @type {(id: LineName) => HTMLDivElement} */
  const line = (id) => element("div", { class: "line", id, role: "toolbar" });
  const strands = drawing("svg", { id: "strands", "aria-hidden": true });
  const grips = drawing("svg", { id: "grips", class: "unsaved", "aria-hidden": true });
  const lines = element("div", { id: "lines" }, strands, grips, line("columns"), line("rows"));
  const readout = element("div", { id: "readout", class: "readout", role: "status" });
  const made = section("links", say("lines.title"), readout, lines);
  listenTo(lines);
  listenToLinks(lines);
  holder.append(made);
  return made;
}

/** @type {(holder: HTMLElement) => void} */
function listenTo(holder) {
  const isKept = () => pinned || holder.classList.contains("dragging"); // other sentences could shift the words
  holder.addEventListener("pointerover", ({ target, pointerType }) => {
    if (!isKept() && pointerType !== "touch") point(placeOf(target) ?? placeOf(document.activeElement));
  });
  holder.addEventListener("pointerleave", () => isKept() || point(placeOf(document.activeElement)));
  holder.addEventListener("focusin", (/** @type {any} */ { target }) => {
    reachable(wordsIn(target.parentElement.id), target);
    if (!pinned) point(placeOf(target));
  });
  holder.addEventListener("focusout", () => pinned || point(null));
  holder.addEventListener("click", (/** @type {any} */ { target }) => {
    const at = placeOf(target);
    if (!at) return;
    pinned = !(pinned && same(active, at));
    point(at);
  });
  holder.addEventListener("keydown", (event) => {
    const from = placeOf(event.target);
    if (!from) return;
    const to = event.key === "Escape" ? from : stepFrom(from, event.key);
    if (!to) return;
    event.preventDefault();
    pinned = false;
    wordsIn(to.line)[to.place].focus();
    point(to);
  });
}
