// Attention of words to a video: its frames side by side, below them a line for each word, darker for larger weights.

import { remember } from "../parts/address.js";
import {
  byId, button, element, percent, reachable, section, spokenToken, tokenParts, walkable,
} from "../parts/common.js";
import { headControls, headWeights, settleHead } from "../parts/heads.js";
import { brushOf, paintPicture } from "../parts/raster.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Chosen, Looks } from "../parts/heads.js" */
/** @import { Picture } from "../parts/raster.js" */

const LEAST = 0.12; // opacity of a frame without attention

/** @type {Looks & { words: string[], count: number, picture: Picture }} */
let strip; // the displayed data
/** @type {Chosen & { word: number }} */
let wanted = { layer: 1, head: "mean", word: 1 }; // its block, head and word
/** @type {number | null} */
let overWord = null; // the word under the pointer, counted from 0
/** @type {HTMLElement | null} */
let room = null; // the elements of the view, once it is mounted

const currentWord = () => overWord ?? wanted.word - 1;
/** @type {(selector: string) => HTMLElement[]} */
const all = (selector) => [...byId("strip").querySelectorAll(selector)];

/**
 * Show the attention of the requested block and word, for one head or all combined.
 * @type {(found: typeof strip, wish: Wish) => void}
 */
export function showStrip(found, wish) {
  [strip, overWord] = [found, null];
  byId("strip").style.setProperty("--frames", strip.count);
  /** @type {(word: number) => HTMLElement[]} */
  const cells = (word) => Array.from({ length: strip.count }, (_, frame) => {
    return element("span", { class: "strip-cell", "data-word": word, "data-frame": frame });
  });
  const lines = strip.words.flatMap((word, place) => {
    return [button({ class: "strip-word", "data-word": place }, ...tokenParts(word)), ...cells(place)];
  });
  byId("strip").replaceChildren(element("i"), ...frameCanvases(), ...lines);
  settleStrip({ ...strip.start, ...wish });
}

/** Draw each frame of the combined picture on its own canvas. */
function frameCanvases() {
  const whole = element("canvas");
  paintPicture(whole, strip.picture);
  const width = strip.picture.width / strip.count;
  return Array.from({ length: strip.count }, (_, frame) => {
    const own = element("canvas", { width, height: strip.picture.height, "data-frame": frame, "aria-hidden": true });
    brushOf(own).drawImage(whole, -frame * width, 0);
    return own;
  });
}

/**
 * Change the selection and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeStrip(wish) {
  settleStrip({ ...wanted, ...wish });
  remember(wanted);
}

/** @type {(wish: Wish) => void} */
function settleStrip(wish) {
  wanted = { ...settleHead("strip", strip, wish), word: strip.words[wish.word - 1] ? Number(wish.word) : 1 };
  for (const cell of all(".strip-cell")) {
    const { word, frame } = cell.dataset;
    cell.style.setProperty("--share", String(frameWeights(Number(word))[Number(frame)]));
  }
  showStripWord();
}

/**
 * The weights of one word over all frames, for one head or all combined.
 * @type {(place: number) => number[]}
 */
const frameWeights = (place) => headWeights(strip, wanted, place * strip.count, (place + 1) * strip.count);

/** Fade the frames without attention from the chosen word or the one under the pointer, and name the largest weight. */
function showStripWord() {
  const place = currentWord();
  const weights = frameWeights(place);
  const largest = Math.max(...weights);
  all("canvas").forEach((canvas, frame) => {
    canvas.style.opacity = String(LEAST + (1 - LEAST) * (weights[frame] / (largest || 1)));
  });
  const words = all(".strip-word");
  words.forEach((word, number) => word.setAttribute("aria-pressed", String(number === wanted.word - 1)));
  reachable(words, words[place]);
  byId("strip-title").textContent = say("overlay.titled", { word: spokenToken(strip.words[place]) });
  const most = weights.indexOf(largest);
  tellFrame(most, say("overlay.most", { cell: frameName(most) }));
}

/** @type {(frame: number) => string} */
const frameName = (frame) => say("strip.frame", { number: frame + 1 });

/** @type {(frame: number, where: string) => void} */
function tellFrame(frame, where) {
  byId("strip-readout").textContent = `${where}: ${percent(frameWeights(currentWord())[frame])}`;
}

/**
 * Mount the view; if it is mounted already, it moves to the new holder.
 * @type {(holder: HTMLElement) => void}
 */
export function mountStrip(holder) {
  room ??= makeRoom();
  holder.append(room);
}

function makeRoom() {
  const form = headControls("strip", changeStrip);
  const field = element("div", { id: "strip", role: "toolbar", "aria-label": say("overlay.about") });
  const readout = element("p", { id: "strip-readout", class: "readout", role: "status" });
  const part = section("strip", say("overlay.title"), readout, field);
  savable(part, () => `strip-block-${wanted.layer}-head-${wanted.head}`, () => strip);
  walkable(field, ".strip-word");
  listenToStrip(field);
  return element("div", {}, form, element("p", { id: "strip-caption", class: "caption" }), part);
}

/**
 * Show the attention of a word, counted from 0, while it is pointed at; null ends this.
 * @type {(place: number | null) => void}
 */
export function pointAtStripWord(place) {
  const there = place === null || strip?.words[place] === undefined ? null : place;
  if (!strip || there === overWord) return;
  overWord = there;
  showStripWord();
}

/** @type {(field: HTMLElement) => void} */
function listenToStrip(field) {
  /** @type {(event: any) => void} */
  const over = ({ target }) => {
    const found = target.closest?.("[data-word]");
    if (found) pointAtStripWord(Number(found.dataset.word));
    const frame = target.closest?.("[data-frame]");
    if (frame) tellFrame(Number(frame.dataset.frame), frameName(Number(frame.dataset.frame)));
  };
  field.addEventListener("pointerover", over);
  field.addEventListener("focusin", over);
  const leave = () => {
    pointAtStripWord(null);
    showStripWord();
  };
  field.addEventListener("pointerleave", leave);
  field.addEventListener("focusout", leave);
  field.addEventListener("click", (/** @type {any} */ { target }) => {
    const found = target.closest("[data-word]");
    if (found) changeStrip({ word: Number(found.dataset.word) + 1 });
  });
}
