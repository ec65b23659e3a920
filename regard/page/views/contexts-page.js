// The page of `regard look --contexts`: one word in several contexts, and its vectors in every layer.

import { remember, wished } from "../parts/address.js";
import { button, byId, drawing, element, reachable, section, signed, walkable } from "../parts/common.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @typedef {{ title: string, points: number[][], nearest: number[] | null, cosines: number[][] }} Layer */

const REACH = 1.2; // size of a plane, relative to its farthest point
const RADIUS = 0.085;

/** @type {{ title: string, contexts: string[][], layers: Layer[] }} */
const data = enclosed();
/** @type {number | null} */
let kept = null; // the context that was clicked
/** @type {number | null} */
let over = null; // the one under the pointer

openPlainPage(say("contexts.page"), data.title);
byId("views").append(contextList(), ...data.layers.map(layerPart));
listen(byId("views"));
keep(wished());
followAddress(keep);

/**
 * Select the requested context, if there is one.
 * @param {Wish} wish
 */
function keep({ context }) {
  kept = data.contexts[context - 1] ? context - 1 : null;
  mark();
}

/** Show the contexts with the word aligned in one column. */
function contextList() {
  const lines = data.contexts.map(([before, shown, after], number) => {
    const parts = [
      element("span", { class: "number" }, String(number + 1)),
      element("bdi", { class: "before" }, before),
      element("bdi", { class: "word" }, shown),
      element("bdi", {}, after),
    ];
    return button({ class: "context", "data-context": number }, ...parts);
  });
  const list = element("div", { id: "contexts", role: "toolbar", "aria-label": say("contexts.about") });
  list.append(...lines);
  reachable(lines, lines[0]);
  walkable(list, ".context");
  const readout = element("p", { id: "contexts-readout", class: "readout", role: "status" });
  const part = section("contexts", say("contexts.title"), readout, list);
  savable(part, "contexts", () => data);
  return part;
}

/**
 * The plane of one layer.
 * @type {(layer: Layer, place: number) => HTMLElement}
 */
function layerPart(layer, place) {
  const points = layer.nearest ? layer.points.map(spotOf) : [];
  const nothing = element("p", { class: "caption" }, say("contexts.one_vector"));
  const box = `${-REACH} ${-REACH} ${2 * REACH} ${2 * REACH}`;
  const plane = drawing("svg", { class: "plane", viewBox: box, role: "img", "aria-label": layer.title }, ...points);
  const part = section(`layer-${place}`, layer.title, layer.nearest ? plane : nothing);
  savable(part, `contexts-layer-${place}`, () => layer);
  return part;
}

/** @type {(point: number[], number: number) => SVGElement} */
function spotOf([x, y], number) {
  const name = drawing("text", { x, y: -y, dy: "0.03" }, String(number + 1));
  return drawing("g", { "data-context": number }, drawing("circle", { cx: x, cy: -y, r: RADIUS }), name);
}

/** Highlight the context under the pointer or the clicked one in all layers, with its nearest neighbour in each. */
function mark() {
  const at = over ?? kept;
  const marked = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-context]"));
  for (const each of marked) {
    each.classList.toggle("chosen", Number(each.dataset.context) === at);
  }
  data.layers.forEach(({ nearest }, place) => {
    for (const each of byId(`layer-${place}-part`).querySelectorAll("g")) {
      each.classList.toggle("near", at !== null && nearest !== null && Number(each.dataset.context) === nearest[at]);
    }
  });
  byId("contexts-readout").textContent = at === null ? say("contexts.hint") : toldOf(at);
}

/** @type {(at: number) => string} */
function toldOf(at) {
  const told = data.layers.flatMap(({ nearest, cosines }, place) =>
    nearest ? [say("contexts.nearest", { layer: place, ...likest(nearest[at], cosines[at]) })] : [],
  );
  return say("contexts.most_like", { number: at + 1, told: told.join(", ") });
}

/** @type {(other: number, cosines: number[]) => { number: number, cosine: string }} */
const likest = (other, cosines) => ({ number: other + 1, cosine: signed(cosines[other]) });

/** @type {(holder: HTMLElement) => void} */
function listen(holder) {
  /** @type {(target: any) => number | null} */
  const contextUnder = (target) => {
    const found = target.closest?.("[data-context]");
    return found ? Number(found.dataset.context) : null;
  };
  /** @type {(number: number | null) => void} */
  const point = (number) => {
    over = number;
    mark();
  };
  holder.addEventListener("pointermove", (/** @type {any} */ { target }) => point(contextUnder(target)));
  holder.addEventListener("pointerleave", () => point(null));
  holder.addEventListener("focusin", (/** @type {any} */ { target }) => point(contextUnder(target)));
  holder.addEventListener("focusout", () => point(null));
  holder.addEventListener("click", (/** @type {any} */ { target }) => {
    const number = contextUnder(target);
    if (number === null) return;
    keep({ context: kept === number ? null : number + 1 });
    remember({ context: kept === null ? null : kept + 1 });
  });
}
