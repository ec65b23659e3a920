// What a model attended to for its answer: as a graph, as windows on a picture, or as weights over a picture, words,
// facts, the slots of a memory, or time.

import { wished } from "../../parts/address.js";
import { byId, element } from "../../parts/common.js";
import { mountFacts, showFacts } from "../../views/facts.js";
import { mountFrames, showFrames } from "../../views/frames.js";
import { layOutGraph, mountGraph, showGraph } from "../../views/graph.js";
import { followWidth } from "../../parts/opening.js";
import { mountOverlay, showOverlay } from "../../views/overlay.js";
import { ask, Refusal } from "../../parts/server.js";
import { layOutSlots, mountSlots, showSlots } from "../../views/slots.js";
import { mountStrokes, showStrokes } from "../../views/strokes.js";
import { say } from "../../parts/texts.js";
import { mountTinted, showTinted } from "../../views/tinted.js";
import { layOutWindows, mountWindows, showWindows } from "../../views/windows.js";

/** @import { Wish } from "../../parts/address.js" */
/** @typedef {(looks: any, wish: Wish) => void} Show */
/** @typedef {{ mount: (holder: HTMLElement) => void, show: Show, layOut: () => void }} View */

// Each view with the functions that mount it, show data in it and lay it out again.
/** @type {Record<string, View>} */
const VIEWS = {
  graph: { mount: mountGraph, show: showGraph, layOut: layOutGraph },
  windows: { mount: mountWindows, show: showWindows, layOut: layOutWindows },
  overlay: { mount: mountOverlay, show: showOverlay, layOut: () => {} },
  facts: { mount: mountFacts, show: showFacts, layOut: () => {} },
  slots: { mount: mountSlots, show: showSlots, layOut: layOutSlots },
  frames: { mount: mountFrames, show: showFrames, layOut: () => {} },
  strokes: { mount: mountStrokes, show: showStrokes, layOut: () => {} },
  tinted: { mount: mountTinted, show: showTinted, layOut: () => {} },
};

/** @type {string | null} */
let view = null; // the visible one
const mounted = new Set();

/**
 * Request the attention of a model for an input, and show it.
 * @type {(model: string, input: unknown, signal: AbortSignal) => Promise<void>}
 */
export async function showLooking(model, input, signal) {
  byId("looking-trouble").hidden = true;
  try {
    const found = await ask("v1/look", { model, input }, signal);
    if (signal.aborted) return;
    show(found);
  } catch (error) {
    if (signal.aborted || !(error instanceof Refusal)) throw error;
    byId("looking").hidden = false;
    byId("looking-views").hidden = true;
    byId("looking-trouble").textContent = error.message;
    byId("looking-trouble").hidden = false;
  }
}

/** @type {(found: any) => void} */
function show(found) {
  const { view: wanted } = found;
  view = wanted;
  byId("looking").hidden = false;
  byId("looking-views").hidden = false;
  for (const name of Object.keys(VIEWS)) byId(`looking-${name}`).hidden = name !== view;
  // The overlay may be mounted elsewhere on the page.
  if (!mounted.has(wanted) || wanted === "overlay") VIEWS[wanted].mount(byId(`looking-${wanted}`));
  mounted.add(wanted);
  VIEWS[wanted].show(found.looks, wished());
}

/**
 * Mount every view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountLooking(holder) {
  const rooms = Object.keys(VIEWS).map((name) => element("div", { id: `looking-${name}`, class: "view", hidden: "" }));
  const views = element("div", { id: "looking-views" }, ...rooms);
  holder.append(
    element("h2", { class: "view-title" }, say("looking.title")),
    element("p", { id: "looking-trouble", class: "trouble", role: "alert", hidden: "" }),
    views,
  );
  followWidth(() => view && VIEWS[view].layOut(), views);
}
