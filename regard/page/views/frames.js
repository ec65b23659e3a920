// Attention over the frames of a sound: its waveform, and below it the weights of every row on the same time axis.

import { remember } from "../parts/address.js";
import { byId, drawing, element, percent, section } from "../parts/common.js";
import { headControls, headWeights, settleHead } from "../parts/heads.js";
import { paintTint, tintColour } from "../parts/raster.js";
import { savable } from "../parts/saving.js";
import { say, soundSeconds } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Chosen, Looks } from "../parts/heads.js" */
/** @typedef {{ low: number[], high: number[], height: number }} Wave */
/** @typedef {{ rows: string[], count: number, seconds: number, wave: Wave }} Sound */

const MOST_NAMED = 40; // with more rows there is no space for their names

/** @type {Looks & Sound} */
let frames; // the displayed data
/** @type {Chosen} */
let wanted = { layer: 1, head: "mean" }; // its block and head
/** @type {HTMLElement[] | null} */
let parts = null; // the elements of the view, once it is mounted

/**
 * Show the attention of the requested block, for one head or all combined.
 * @type {(found: typeof frames, wish: Wish) => void}
 */
export function showFrames(found, wish) {
  frames = found;
  drawWave();
  const every = Math.ceil(frames.rows.length / MOST_NAMED);
  const names = frames.rows.map((row, place) => element("bdi", {}, place % every ? "" : row));
  byId("frames-rows").replaceChildren(...names);
  const length = frames.count * frames.seconds;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => element("span", {}, seconds(share * length)));
  byId("frames-ticks").replaceChildren(...ticks);
  settleFrames({ ...frames.start, ...wish });
}

/** @type {(value: number) => string} */
const seconds = (value) => say("frames.seconds", { seconds: soundSeconds(value) });

/**
 * Change the selection and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeFrames(wish) {
  settleFrames({ ...wanted, ...wish });
  remember(wanted);
}

/** @type {(wish: Wish) => void} */
function settleFrames(wish) {
  wanted = settleHead("frames", frames, wish);
  paintTint(byId("frames-weights"), frames.count, headWeights(frames, wanted), tintColour());
  const rowHeight = Math.max(4, Math.min(28, 720 / frames.rows.length)); // pixels
  byId("frames-weights").style.height = `${rowHeight * frames.rows.length}px`;
  byId("frames-readout").textContent = say("frames.hint");
}

function drawWave() {
  const { low, high, height } = frames.wave;
  const above = high.map((value, place) => `${place} ${-value}`);
  const below = low.map((value, place) => `${place} ${-value}`).reverse();
  const wave = byId("frames-wave");
  wave.setAttribute("viewBox", `0 ${-height} ${low.length} ${2 * height}`);
  wave.replaceChildren(drawing("path", { d: `M ${[...above, ...below].join(" L ")} Z` }));
}

/**
 * Mount the view; if it is already mounted elsewhere on the page, move it here.
 * @type {(holder: HTMLElement) => void}
 */
export function mountFrames(holder) {
  const before = parts?.[0].parentElement;
  if (before && before !== holder) before.hidden = true;
  holder.append(...(parts ??= makeParts()));
}

function makeParts() {
  const form = headControls("frames", changeFrames);
  const wave = drawing("svg", { id: "frames-wave", preserveAspectRatio: "none", "aria-hidden": true });
  const names = element("div", { id: "frames-rows" });
  const weights = element("canvas", { id: "frames-weights", role: "img", "aria-label": say("frames.title") });
  const ticks = element("div", { id: "frames-ticks" });
  const field = element("div", { id: "frames" }, element("i"), wave, names, weights, element("i"), ticks);
  const readout = element("p", { id: "frames-readout", class: "readout", role: "status" });
  const part = section("frames", say("frames.title"), readout, field);
  savable(part, () => `frames-block-${wanted.layer}-head-${wanted.head}`, () => frames);
  listenToFrames(weights);
  return [form, element("p", { id: "frames-caption", class: "caption" }), part];
}

/** @type {(weights: HTMLCanvasElement) => void} */
function listenToFrames(weights) {
  weights.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    /** @type {(value: number, whole: number, count: number) => number} */
    const part = (value, whole, count) => Math.min(count - 1, Math.max(0, Math.floor((value / whole) * count)));
    const frame = part(offsetX, weights.clientWidth, frames.count);
    const row = part(offsetY, weights.clientHeight, frames.rows.length);
    const cell = row * frames.count + frame;
    const share = percent(headWeights(frames, wanted, cell, cell + 1)[0]);
    const time = seconds((frame + 0.5) * frames.seconds);
    byId("frames-readout").textContent = say("frames.cell", { time, row: frames.rows[row], share });
  });
  weights.addEventListener("pointerleave", () => {
    byId("frames-readout").textContent = say("frames.hint");
  });
}
