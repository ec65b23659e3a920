// The tree view of a beam search. Pointing at a hypothesis, by pointer, by keyboard or by the fragment of the address,
// shows the path to it and its text.

import { remember } from "../parts/address.js";
import { byId, drawing, element, percent, reachable, section, signed, tokenWord, word } from "../parts/common.js";
import { savable } from "../parts/saving.js";
import { say, sayParts } from "../parts/texts.js";
import { beam, boxes, build, extent, isShown, laneOf, layOutTree, paths, pathTo } from "./tree/layout.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Beam } from "./tree/layout.js" */

/** @type {number | null} */
let pointed = null; // the highlighted hypothesis
let kept = false; // whether it stays highlighted when the pointer leaves

/**
 * Show a beam search: `show` all hypotheses or only those that led to outputs, and highlight a `node`.
 * @type {(found: Beam, wish: Wish) => void}
 */
export function showTree(found, wish) {
  build(found);
  [pointed, kept] = [null, false];
  layOutTree("all");
  settleTree(wish);
  if (beam.leftwards && pointed === null) byId("field").scrollLeft = byId("field").scrollWidth;
}

/** @type {(wish: Wish) => void} */
function settleTree(wish) {
  if (["all", "outputs"].includes(wish.show)) layOutTree(wish.show);
  const place = Object.hasOwn(wish, "node") && wish.node !== "" ? Number(wish.node) : pointed;
  const there = place !== null && Number.isInteger(place) && place in beam.nodes && isShown(place);
  kept = there && (kept || Object.hasOwn(wish, "node"));
  for (const input of byId("show").querySelectorAll("input")) input.checked = input.value === extent;
  pointAt(there ? place : null);
  if (there) reach(place);
}

/**
 * Change the displayed part and the selected node, and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeTree(wish) {
  settleTree(wish);
  rememberTree();
}

function rememberTree() {
  remember({ show: extent === "all" ? null : extent, node: kept ? pointed : null });
}

/**
 * Highlight a hypothesis, or none: the path to it, its whole text, and what became of it.
 * @type {(place: number | null) => void}
 */
function pointAt(place) {
  pointed = place;
  const on = new Set(place === null ? [] : pathTo(place));
  byId("tree").classList.toggle("pointing", place !== null);
  boxes.forEach((box, each) => {
    box.classList.toggle("on", on.has(each));
    box.classList.toggle("active", each === place);
    box.setAttribute("aria-pressed", String(each === place && kept));
    paths[each].classList.toggle("on", on.has(each));
  });
  for (const output of byId("outputs").querySelectorAll(".output")) {
    output.classList.toggle("active", Number(output.dataset.place) === place);
  }
  byId("tree-readout").replaceChildren(...(place === null ? [howToPoint()] : toldOf(place)));
}

function howToPoint() {
  return element("p", { class: "unsaved" }, say("tree.hint"));
}

/**
 * Two sentences about a hypothesis: its text, and its numbers and fate.
 * @type {(place: number) => HTMLElement[]}
 */
function toldOf(place) {
  const { token, text, step, log_probability, total, score, rank, fate } = beam.nodes[place];
  const whole = element("p", { class: "whole" }, word(text || "∅", beam.target.language));
  const numbers = [
    say("tree.chance", { chance: percent(Math.exp(log_probability)), logarithm: signed(log_probability) }),
    say("tree.sum", { sum: signed(total) }),
    ...(score === null ? [] : [say("tree.score", { score: signed(score) })]),
  ];
  const shown = element("b", {}, tokenWord(token, beam.target.language));
  const facts = sayParts("tree.facts", { step, token: shown, numbers: numbers.join(", ") });
  const became = [say(`tree.${fate}_became`), ...(rank ? [say("tree.rank", { rank, all: beam.outputs.length })] : [])];
  return [whole, element("p", { class: "facts" }, ...facts, ` ${became.join(" ")}`)];
}

/**
 * Make a hypothesis the one that Tab reaches, and scroll it into view.
 * @type {(place: number) => void}
 */
function reach(place) {
  reachable(boxes, boxes[place]);
  boxes[place].scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** @type {(target: any) => number | null} */
const nodeAt = (target) => {
  const found = target?.closest?.("[data-place]");
  return found ? Number(found.dataset.place) : null;
};

/**
 * The hypothesis that a key leads to: its parent, the next on its branch, or the one above or below in its step.
 * @type {(place: number, key: string) => number | null}
 */
function nodeFrom(place, key) {
  const { nodes, leftwards, outputs } = beam;
  const { parent, step } = nodes[place];
  const [back, on] = leftwards ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
  const among = nodes.map((_, each) => each).filter(isShown).sort((one, other) => laneOf(one) - laneOf(other));
  const level = among.filter((each) => nodes[each].step === step);
  const children = among.filter((each) => nodes[each].parent === place);
  /** @type {Record<string, number | null>} */
  const moves = {
    [back]: parent,
    [on]: children[0],
    ArrowUp: level[level.indexOf(place) - 1],
    ArrowDown: level[level.indexOf(place) + 1],
    Home: pathTo(place)[0],
    End: outputs[0],
  };
  return Object.hasOwn(moves, key) ? moves[key] ?? place : null;
}

/**
 * Handle pointer, clicks and keys, which work alike in the tree and in the list of outputs.
 * @type {(holder: HTMLElement) => void}
 */
function listenToNodes(holder) {
  holder.addEventListener("pointerover", ({ target, pointerType }) => {
    if (!kept && pointerType !== "touch") pointAt(nodeAt(target) ?? nodeAt(document.activeElement));
  });
  holder.addEventListener("pointerleave", () => kept || pointAt(nodeAt(document.activeElement)));
  holder.addEventListener("focusin", (/** @type {any} */ { target }) => kept || pointAt(nodeAt(target)));
  holder.addEventListener("focusout", () => kept || pointAt(null));
  holder.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = nodeAt(target);
    if (place === null) return;
    kept = !(kept && pointed === place);
    pointAt(place);
    reach(place);
    rememberTree();
  });
  holder.addEventListener("keydown", (event) => {
    const from = nodeAt(event.target);
    if (from === null) return;
    const walking = holder.id === "tree" ? nodeFrom(from, event.key) : null;
    const to = event.key === "Escape" ? from : walking;
    if (to === null) return;
    event.preventDefault();
    kept = false;
    if (walking !== null) {
      reach(to);
      boxes[to].focus({ preventScroll: true });
    }
    pointAt(to);
    rememberTree();
  });
}

/**
 * Mount the view; `controls` are further groups of options.
 * @type {(holder: HTMLElement, ...controls: HTMLElement[]) => void}
 */
export function mountTree(holder, ...controls) {
  /** @type {(value: string, text: string) => HTMLLabelElement} */
  const choice = (value, text) => {
    return element("label", {}, element("input", { type: "radio", name: "show", value }), element("span", {}, text));
  };
  const choices = ["all", "outputs"].map((value) => choice(value, say(`tree.show_${value}`)));
  const group = element("fieldset", { id: "show" }, element("legend", {}, say("tree.show")), ...choices);
  const form = element("form", { class: "controls", "aria-label": say("tree.controls") }, group, ...controls);
  const links = drawing("svg", { id: "links", "aria-hidden": true });
  const tree = element("div", { id: "tree", role: "toolbar", "aria-label": say("tree.about") }, links);
  const readout = element("div", { id: "tree-readout", class: "readout", role: "status" });
  const key = element("ul", { id: "key", "aria-label": say("tree.key") });
  const steps = section("tree", say("tree.title"), readout, element("div", { id: "field" }, tree), key);
  const outputs = element("ol", { id: "outputs", class: "outputs" });
  holder.append(form, element("p", { id: "tree-caption", class: "caption" }), steps);
  holder.append(section("outputs", say("tree.outputs"), outputs));
  savable(steps, "beam", () => beam);
  savable(byId("outputs-part"), "outputs", () => beam.outputs.map((place) => beam.nodes[place]));
  listenToNodes(tree);
  listenToNodes(outputs);
  group.addEventListener("change", (/** @type {any} */ { target }) => changeTree({ show: target.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
}
