// A path of glimpses over a picture: the squares of each step, and what the model saw in them.

import { remember } from "../parts/address.js";
import { byId, button, choiceName, drawing, element, offer, reachable, section, walkable } from "../parts/common.js";
import { paintPicture } from "../parts/raster.js";
import { savable } from "../parts/saving.js";
import { inLanguage, say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Picture } from "../parts/raster.js" */
/** @typedef {{ name: string, centre: number[], squares: number[][], patches: Picture[] }} Glimpse */
/** @typedef {{ picture: Picture, steps: Glimpse[] }} Glimpses */
/** @typedef {(point: number[]) => number[]} Spot from a point of the picture to its position on the screen */

const LARGEST_SIDE = 520; // pixels on the screen
const HUES = 8; // from the first step to the last

/** @type {Glimpses} */
let glimpses; // the displayed data
/** @type {number | "all"} */
let step = "all"; // the chosen step, counted from 1, or all of them
/** @type {number | null} */
let overStep = null; // the step under the pointer, counted from 0

/** @type {(place: number) => string} */
const stepHue = (place) => {
  const count = glimpses.steps.length;
  return `step-${count > 1 ? 1 + Math.round((place / (count - 1)) * (HUES - 1)) : 5}`;
};
const currentStep = () => overStep ?? (step === "all" ? null : step - 1);

/**
 * Show a path with the requested step.
 * @type {(found: Glimpses, wish: Wish) => void}
 */
export function showWindows(found, wish) {
  [glimpses, overStep] = [found, null]; // the element under the pointer no longer exists
  paintPicture(byId("looked-at"), glimpses.picture);
  byId("patches").replaceChildren(...glimpses.steps.map(seenAt));
  settleWindows(wish);
}

/**
 * Change the displayed step and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeWindows(wish) {
  settleWindows(wish);
  remember({ step: step === "all" ? null : step });
}

/** @type {(wish: Wish) => void} */
function settleWindows(wish) {
  step = glimpses.steps[wish.step - 1] ? Number(wish.step) : "all";
  offer(byId("step"), ["all", ...glimpses.steps.map((_, place) => String(place + 1))], step, choiceName);
  layOutWindows();
}

/**
 * The name of a glimpse in the language of the page; other names stay as they are.
 * @type {(name: string) => string}
 */
const glimpseName = (name) => {
  const number = /^glimpse (\d+)$/.exec(name)?.[1];
  return number ? say("windows.glimpse", { number }) : name;
};

/**
 * The patches of one step, at every scale.
 * @type {(glimpse: Glimpse, place: number) => HTMLButtonElement}
 */
function seenAt({ name, patches }, place) {
  const seen = patches.map((patch) => {
    const canvas = element("canvas", { class: "patch", "aria-hidden": true });
    paintPicture(canvas, patch);
    return canvas;
  });
  const title = element("span", {}, glimpseName(name));
  return button({ class: `glimpse ${stepHue(place)}`, "data-step": place }, title, ...seen);
}

/** Draw the squares as large as fits, the chosen step in full colour and the others faint. */
export function layOutWindows() {
  const [left, top, right, bottom] = shownExtent();
  const room = Math.min(LARGEST_SIDE, byId("windows").parentElement.clientWidth - 48);
  const scale = room / Math.max(right - left, bottom - top);
  /** @type {Spot} */
  const spot = ([across, down]) => [(across - left) * scale, (down - top) * scale];
  const { width, height } = glimpses.picture;
  place(byId("windows"), [0, 0], (right - left) * scale, (bottom - top) * scale);
  place(byId("looked-at"), spot([0, 0]), width * scale, height * scale);
  const at = currentStep();
  const squares = glimpses.steps.flatMap((each, number) => squaresOf(each, number, spot, scale));
  const places = glimpses.steps.map(({ centre }) => spot(centre).map((value) => value.toFixed(1)).join(" "));
  const way = drawing("path", { class: "way", d: `M ${places.join(" L ")}` });
  byId("windows-lines").replaceChildren(...squares, way);
  byId("windows-numbers").replaceChildren(...glimpses.steps.map((each, number) => numberOf(each, number, spot)));
  const seen = [...byId("patches").children];
  seen.forEach((each, number) => each.setAttribute("aria-pressed", at === number));
  reachable(seen, seen[at ?? 0]);
  byId("windows-readout").textContent = at === null ? say("windows.hint") : toldOfStep(glimpses.steps[at]);
}

/** Left, top, right and bottom of the displayed area: the picture, and the smallest squares that extend beyond it. */
function shownExtent() {
  const { width, height } = glimpses.picture;
  const smallest = glimpses.steps.map(({ squares }) => squares[0]);
  /** @type {(axis: number) => number} */
  const least = (axis) => Math.min(0, ...smallest.map((square) => square[axis]));
  /** @type {(axis: number, whole: number) => number} */
  const most = (axis, whole) => Math.max(whole, ...smallest.map((square) => square[axis] + square[2]));
  return [least(0), least(1), most(0, width), most(1, height)];
}

/** @type {(thing: any, origin: number[], width: number, height: number) => void} */
function place(thing, origin, width, height) {
  const [left, top] = origin;
  const sizes = { left, top, width, height };
  for (const [name, value] of Object.entries(sizes)) thing.style[name] = `${value}px`;
}

/**
 * The squares of a step; if it is not chosen, only the smallest, since all would hide the picture.
 * @type {(glimpse: Glimpse, number: number, spot: Spot, scale: number) => SVGPathElement[]}
 */
function squaresOf({ squares }, number, spot, scale) {
  const at = currentStep();
  const isFaint = at !== null && at !== number;
  return (at === number ? squares : squares.slice(0, 1)).flatMap(([left, top, side], size) => {
    const [x, y] = spot([left, top]).map((value) => value.toFixed(1));
    const length = (side * scale).toFixed(1);
    const d = `M ${x} ${y} h ${length} v ${length} h -${length} z`;
    const name = `window ${stepHue(number)}${size ? " wider" : ""}${isFaint ? " faint" : ""}`;
    // A dark line under a bright one is visible on any picture.
    return [drawing("path", { class: `${name} under`, d }), drawing("path", { class: name, d })];
  });
}

/** @type {(glimpse: Glimpse, number: number, spot: Spot) => HTMLSpanElement} */
function numberOf({ centre }, number, spot) {
  const at = currentStep();
  const name = `step-number ${stepHue(number)}${at !== null && at !== number ? " faint" : ""}`;
  const made = element("span", { class: name, "data-step": number }, String(number + 1));
  [made.style.left, made.style.top] = spot(centre).map((value) => `${value}px`);
  return made;
}

/** @type {(glimpse: Glimpse) => string} */
function toldOfStep({ name, centre, squares }) {
  const [across, down] = centre.map((value) => Number(value.toFixed(1)));
  const sides = squares.map(([, , side]) => inLanguage(Number(side.toFixed(1)))).join(", ");
  const told = say("windows.step", { name: glimpseName(name), across, down, sides });
  return isBeyond(squares[0]) ? `${told} ${say("windows.beyond")}` : told;
}

/** @type {(square: number[]) => boolean} */
function isBeyond([left, top, side]) {
  const { width, height } = glimpses.picture;
  return left < 0 || top < 0 || left + side > width || top + side > height;
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountWindows(holder) {
  const group = element("fieldset", { id: "step" }, element("legend", {}, say("controls.glimpse")));
  const form = element("form", { class: "controls", "aria-label": say("controls.what") }, group);
  const lines = drawing("svg", { id: "windows-lines", "aria-hidden": true });
  const numbers = element("div", { id: "windows-numbers" });
  const field = element("div", { id: "windows" }, element("canvas", { id: "looked-at" }), lines, numbers);
  const readout = element("p", { id: "windows-readout", class: "readout", role: "status" });
  const patches = element("div", { id: "patches", role: "toolbar", "aria-label": say("windows.about") });
  const part = section("windows", say("windows.title"), readout, field);
  const seen = section("patches", say("windows.seen"), patches);
  holder.append(form, element("div", { class: "beside-each-other" }, part, seen));
  savable(part, "glimpses", () => glimpses);
  savable(seen, "glimpses-seen", () => glimpses);
  group.addEventListener("change", (/** @type {any} */ { target }) => changeWindows({ step: target.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
  walkable(patches, ".glimpse");
  for (const each of [field, patches]) listenToSteps(each);
}

/** @type {(holder: HTMLElement) => void} */
function listenToSteps(holder) {
  /** @type {(target: any) => number | null} */
  const stepUnder = (target) => {
    const found = target.closest?.("[data-step]");
    return found ? Number(found.dataset.step) : null;
  };
  /** @type {(place: number | null) => void} */
  const over = (place) => {
    if (overStep === place) return;
    overStep = place;
    layOutWindows();
  };
  // Numbers are redrawn when one is pointed at, so the holder, which stays, listens for the pointer leaving.
  holder.addEventListener("pointermove", (/** @type {any} */ { target }) => over(stepUnder(target)));
  holder.addEventListener("pointerleave", () => over(null));
  holder.addEventListener("focusin", (/** @type {any} */ { target }) => over(stepUnder(target)));
  holder.addEventListener("focusout", () => over(null));
  holder.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = stepUnder(target);
    if (place !== null) changeWindows({ step: step === place + 1 ? "all" : place + 1 });
  });
}
