// The slots of a memory: where heads read and write, step by step, as a picture that can be played.

import { remember } from "../parts/address.js";
import { byId, button, element, percent, section } from "../parts/common.js";
import { brushOf, paintPicture } from "../parts/raster.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Picture } from "../parts/raster.js" */
/** @typedef {{ name: string, writes: boolean, weights: number[] }} MemoryHead */
/** @typedef {{ steps: string[], slots: string[], strips: Record<string, Picture>, heads: MemoryHead[] }} Use */

const ONE = 10_000; // how the server encodes a weight of 1
const PACE = 140; // milliseconds per step
const WORTH_TELLING = 0.05;
const SLOT_HEIGHTS = [3, 12]; // pixels on the screen

/** @type {Use} */
let use; // the displayed data
let step = 1; // the current step
/** @type {number | undefined} */
let playing; // the timer, while it plays

/**
 * Show the use of a memory at the requested step, or at all steps.
 * @type {(found: Use, wish: Wish) => void}
 */
export function showSlots(found, wish) {
  use = found;
  pause();
  byId("slots-range").max = use.steps.length;
  byId("slots-strips").replaceChildren(
    ...Object.entries(use.strips).map(([name, picture]) => {
      return strip(say(`slots.${name}`), picture.height, (canvas) => paintPicture(canvas, picture));
    }),
    ...use.heads.map((head) => strip(headName(head), use.slots.length, (canvas) => paintHead(canvas, head))),
  );
  settle(wish.step ?? use.steps.length);
}

/**
 * Change the displayed step and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeSlots(wish) {
  settle(wish.step);
  remember({ step });
}

/** @type {(wished: any) => void} */
function settle(wished) {
  step = Math.min(Math.max(1, Math.round(Number(wished)) || use.steps.length), use.steps.length);
  layOutSlots();
}

/**
 * A head's name in the language of the page; reading heads and writing heads are numbered separately.
 * @type {(head: MemoryHead) => string}
 */
function headName(head) {
  const [, number = ""] = head.name.split(" ");
  return say(head.writes ? "slots.write" : "slots.read", { number }).trim();
}

/**
 * A picture with a column for each step, and its name beside it.
 * @type {(name: string, rows: number, paint: (canvas: HTMLCanvasElement) => void) => HTMLDivElement}
 */
function strip(name, rows, paint) {
  const canvas = element("canvas", { "aria-hidden": true });
  paint(canvas);
  const [least, most] = SLOT_HEIGHTS;
  canvas.style.height = `${rows * Math.min(Math.max(280 / rows, least), most)}px`;
  const veil = element("div", { class: "veil" });
  const field = element("div", { class: "steps" }, canvas, veil);
  return element("div", { class: "strip" }, element("span", {}, name), field);
}

/**
 * Draw the weights of one head, a row for each slot and a column for each step, in the colour for reading or writing.
 * @type {(canvas: HTMLCanvasElement, head: MemoryHead) => void}
 */
function paintHead(canvas, { weights, writes }) {
  const style = getComputedStyle(document.documentElement);
  const [red, green, blue] = style.getPropertyValue(writes ? "--in" : "--out").trim().split(" ").map(Number);
  const picture = new ImageData(use.steps.length, use.slots.length);
  weights.forEach((weight, place) => picture.data.set([red, green, blue, (255 * weight) / ONE], place * 4));
  [canvas.width, canvas.height] = [picture.width, picture.height];
  brushOf(canvas).putImageData(picture, 0, 0);
}

/** Cover the steps that are still to come, and describe the current one. */
export function layOutSlots() {
  const share = step / use.steps.length;
  for (const veil of byId("slots-strips").querySelectorAll(".veil")) veil.style.insetInlineStart = `${100 * share}%`;
  byId("slots-range").value = step;
  const told = say("slots.told", { step, count: use.steps.length, name: use.steps[step - 1] });
  const places = use.heads.map((head) => `${headName(head)}: ${whereIs(head)}`);
  byId("slots-readout").textContent = [told, ...places].join(" · ");
}

/** @type {(head: MemoryHead) => string} */
function whereIs({ weights }) {
  const own = use.slots.map((_, place) => weights[place * use.steps.length + step - 1] / ONE);
  const most = own.indexOf(Math.max(...own));
  if (own[most] < WORTH_TELLING) return say("slots.nowhere");
  return say("slots.at", { slot: use.slots[most], share: percent(own[most]) });
}

function pause() {
  clearInterval(playing);
  playing = undefined;
  byId("slots-play").textContent = say("slots.play");
}

function play() {
  if (step === use.steps.length) step = 0;
  byId("slots-play").textContent = say("slots.pause");
  playing = setInterval(() => {
    settle(step + 1);
    if (step === use.steps.length) pause();
  }, PACE);
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountSlots(holder) {
  const range = element("input", { id: "slots-range", type: "range", min: 1, max: 1, "aria-label": say("slots.step") });
  const start = button({ id: "slots-play", class: "plain" }, say("slots.play"));
  const controls = element("div", { class: "playing" }, start, range);
  const readout = element("p", { id: "slots-readout", class: "readout" });
  const hint = element("p", { class: "hint" }, say("slots.hint"));
  const part = section("slots", say("slots.title"), hint, controls, readout, element("div", { id: "slots-strips" }));
  holder.append(part);
  savable(part, "slots", () => use);
  range.addEventListener("input", () => {
    pause();
    changeSlots({ step: range.value });
  });
  start.addEventListener("click", () => (playing ? pause() : play()));
}
