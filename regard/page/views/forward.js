// The forward pass of one sentence: a tree of layers that open and close, and the most probable tokens at its end.

import { button, byId, element, percent, section } from "../parts/common.js";
import { numberTable, tidyNumber } from "../parts/numbers.js";
import { savable } from "../parts/saving.js";
import { decimal, isSaid, say } from "../parts/texts.js";

/** @import { NumberTable } from "../parts/numbers.js" */
/** @typedef {{ name: string, kind: string, number: number, norm: number, shape: number[] }} LayerFacts */
/** @typedef {NumberTable & LayerFacts & { inside: Layer[] }} Layer */
/** @typedef {{ place: string, tokens: [string, number, number][] }} Guess */
/** @typedef {{ text: string, layers: Layer[], guesses: Guess[] }} Pass */

/** @type {Pass} */
let followed;

/**
 * Make room for the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountForward(holder) {
  const open = button({ class: "plain" }, say("forward.open"));
  const close = button({ class: "plain" }, say("forward.close"));
  const controls = element("div", { class: "tree-controls unsaved" }, open, close);
  const hint = element("p", { class: "hint" }, say("forward.hint"));
  const tree = element("div", { id: "forward-layers" });
  const part = section("forward", say("forward.layers"), hint, controls, tree);
  const best = element("div", { id: "forward-guesses", class: "numbers" });
  const guesses = section("guesses", say("forward.guesses"), best);
  holder.append(part, guesses);
  savable(part, "forward", () => followed.layers);
  savable(guesses, "guesses", () => followed.guesses);
  open.addEventListener("click", () => openAll(tree, true));
  close.addEventListener("click", () => openAll(tree, false));
}

/**
 * Show a pass, with all its layers closed.
 * @type {(found: Pass) => void}
 */
export function showForward(found) {
  followed = found;
  byId("forward-layers").replaceChildren(...found.layers.map(layerTree));
  byId("forward-guesses").replaceChildren(guessTable(found.guesses));
}

/** @type {(tree: HTMLElement, isOpen: boolean) => void} */
function openAll(tree, isOpen) {
  if (isOpen) {
    // Opening a layer fills it, and so brings out those inside it.
    for (let closed; (closed = tree.querySelector("details:not([open])")); ) unfold(closed);
  } else {
    tree.querySelectorAll("details").forEach((details) => (details.open = false));
  }
}

/** @type {WeakMap<Element, Layer>} */
const layerOf = new WeakMap();

/** @type {(layer: Layer) => HTMLElement} */
function layerTree(layer) {
  const name = isSaid(`layers.${layer.kind}`) ? say(`layers.${layer.kind}`, { number: layer.number }) : layer.name;
  const facts = [layer.shape.join(" × "), say("forward.norm", { norm: decimal(layer.norm, 2) })].join(" · ");
  const summary = element("summary", {}, element("b", {}, name), " ", element("span", { class: "facts" }, facts));
  const details = element("details", { class: "layer" }, summary);
  layerOf.set(details, layer);
  details.addEventListener("toggle", () => details.open && unfold(details));
  return details;
}

/**
 * Open a layer; its numbers and the layers inside are made when it is opened for the first time.
 * @type {(details: any) => void}
 */
function unfold(details) {
  details.open = true;
  const layer = layerOf.get(details);
  if (!layer || details.childElementCount > 1) return;
  const cut = layer.columns.length < layer.shape[1];
  const counts = { shown: layer.columns.length, count: layer.shape[1] };
  details.append(
    ...layer.inside.map(layerTree),
    ...(layer.inside.length ? [element("p", { class: "rest" }, say("forward.output"))] : []),
    numberTable(layer),
    ...(cut ? [element("p", { class: "rest" }, say("steps.columns", counts))] : []),
  );
}

/** @type {(guesses: Guess[]) => HTMLTableElement} */
function guessTable(guesses) {
  const rows = guesses.map(({ place, tokens }) => {
    const cells = tokens.map(([token, logit, chance]) => {
      const title = say("forward.logit", { token, logit: tidyNumber(logit) });
      const cell = element("td", { class: "above-zero", title });
      cell.append(element("bdi", {}, token), ` ${percent(chance)}`);
      cell.style.setProperty("--weight", String(chance));
      return cell;
    });
    return element("tr", {}, element("th", { scope: "row", dir: "auto" }, place), ...cells);
  });
  const head = element("tr", {}, element("th", { scope: "col" }, say("forward.at")));
  return element("table", {}, element("thead", {}, head), ...rows);
}
