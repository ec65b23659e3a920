// Attention of words or steps to a picture: the picture in grey, tinted by the attention of the chosen one.

import { remember } from "../parts/address.js";
import {
  byId, button, element, percent, reachable, section, spokenToken, tokenParts, walkable,
} from "../parts/common.js";
import { headControls, headWeights, settleHead } from "../parts/heads.js";
import { brushOf, paintPicture, paintTint, tintColour } from "../parts/raster.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Chosen, Looks } from "../parts/heads.js" */
/** @import { Picture } from "../parts/raster.js" */

const FEW_PIXELS = 100; // up to this size each pixel is shown as a square

/** @type {Looks & { steps: string[], grid: number[], picture: Picture }} */
let overlay; // the displayed data
/** @type {Chosen & { word: number }} */
let wanted = { layer: 1, head: "mean", word: 1 }; // its block, head and word
/** @type {number | null} */
let overWord = null; // the word under the pointer, counted from 0
/** @type {HTMLElement | null} */
let room = null; // the elements of the view, once it is mounted

const currentWord = () => overWord ?? wanted.word - 1;

/**
 * Show the attention of the requested block and word, for one head or all combined.
 * @type {(found: typeof overlay, wish: Wish) => void}
 */
export function showOverlay(found, wish) {
  [overlay, overWord] = [found, null]; // the element under the pointer no longer exists
  paintPicture(byId("overlay-picture"), overlay.picture, true);
  byId("overlay-picture").classList.toggle("fine", overlay.picture.width > FEW_PIXELS);
  byId("overlay-words").replaceChildren(...overlay.steps.map(wordThumb));
  settleOverlay({ ...overlay.start, ...wish });
}

/**
 * Change the selection and record it in the address.
 * @type {(wish: Wish) => void}
 */
export function changeOverlay(wish) {
  settleOverlay({ ...wanted, ...wish });
  remember(wanted);
}

/** @type {(wish: Wish) => void} */
function settleOverlay(wish) {
  wanted = { ...settleHead("overlay", overlay, wish), word: overlay.steps[wish.word - 1] ? Number(wish.word) : 1 };
  const tint = tintColour();
  [...byId("overlay-words").children].forEach((thumb, place) => {
    paintTint(thumb.querySelector(".tint"), overlay.grid[1], cellWeights(place), tint);
    thumb.setAttribute("aria-pressed", place === wanted.word - 1);
  });
  showWord();
}

/**
 * The weights of one word over all cells, for one head or all combined.
 * @type {(place: number) => number[]}
 */
function cellWeights(place) {
  const cells = overlay.grid[0] * overlay.grid[1];
  return headWeights(overlay, wanted, place * cells, (place + 1) * cells);
}

/** @type {(word: string, place: number) => HTMLButtonElement} */
function wordThumb(word, place) {
  const large = byId("overlay-picture");
  const picture = element("canvas", { "aria-hidden": true, width: large.width, height: large.height });
  brushOf(picture).drawImage(large, 0, 0);
  const tint = element("canvas", { class: "tint", "aria-hidden": true });
  const stack = element("span", { class: "stack" }, picture, tint);
  return button({ class: "word-thumb", "data-word": place }, stack, element("span", {}, ...tokenParts(word)));
}

/** Tint the picture for the chosen word or the one under the pointer, and say where its largest weight is. */
function showWord() {
  const place = currentWord();
  const weights = cellWeights(place);
  paintTint(byId("overlay-tint"), overlay.grid[1], weights, tintColour());
  byId("overlay-title").textContent = say("overlay.titled", { word: spokenToken(overlay.steps[place]) });
  const most = weights.indexOf(Math.max(...weights));
  tellCell(most, say("overlay.most", { cell: cellName(most) }));
  const thumbs = [...byId("overlay-words").children];
  reachable(thumbs, thumbs[place]);
}

/** @type {(cell: number) => string} */
const cellName = (cell) => {
  const [row, column] = [Math.floor(cell / overlay.grid[1]) + 1, (cell % overlay.grid[1]) + 1];
  return say("overlay.cell", { row, column });
};

/** @type {(cell: number, where: string) => void} */
function tellCell(cell, where) {
  byId("overlay-readout").textContent = `${where}: ${percent(cellWeights(currentWord())[cell])}`;
}

/**
 * Mount the view; if it is mounted already, it moves to the new holder.
 * @type {(holder: HTMLElement) => void}
 */
export function mountOverlay(holder) {
  room ??= makeRoom();
  holder.append(room);
}

function makeRoom() {
  const form = headControls("overlay", changeOverlay);
  const canvases = ["overlay-picture", "overlay-tint"].map((id) => element("canvas", { id, "aria-hidden": true }));
  const field = element("div", { id: "overlay" }, ...canvases);
  const readout = element("p", { id: "overlay-readout", class: "readout", role: "status" });
  const words = element("div", { id: "overlay-words", role: "toolbar", "aria-label": say("overlay.about") });
  const part = section("overlay", say("overlay.title"), readout, field);
  const all = section("overlay-words", say("overlay.all"), words);
  const caption = element("p", { id: "overlay-caption", class: "caption" });
  savable(part, () => `overlay-block-${wanted.layer}-head-${wanted.head}`, () => overlay);
  savable(all, () => `overlay-all-block-${wanted.layer}-head-${wanted.head}`, () => overlay);
  walkable(words, ".word-thumb");
  listenToWords(words);
  listenToPicture(field);
  return element("div", {}, form, caption, element("div", { class: "beside-each-other" }, part, all));
}

/**
 * Show the attention of a word, counted from 0, while it is pointed at; null ends this.
 * @type {(place: number | null) => void}
 */
export function pointAtWord(place) {
  const there = place === null || overlay?.steps[place] === undefined ? null : place;
  if (!overlay || there === overWord) return;
  overWord = there;
  showWord();
}

/** @type {(words: HTMLElement) => void} */
function listenToWords(words) {
  /** @type {(target: any) => void} */
  const over = (target) => {
    const found = target?.closest?.("[data-word]");
    pointAtWord(found ? Number(found.dataset.word) : null);
  };
  words.addEventListener("pointerover", (/** @type {any} */ { target }) => over(target));
  words.addEventListener("pointerleave", () => over(null));
  words.addEventListener("focusin", (/** @type {any} */ { target }) => over(target));
  words.addEventListener("focusout", () => over(null));
  words.addEventListener("click", (/** @type {any} */ { target }) => {
    const found = target.closest("[data-word]");
    if (found) changeOverlay({ word: Number(found.dataset.word) + 1 });
  });
}

/** @type {(field: HTMLElement) => void} */
function listenToPicture(field) {
  field.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    const [rows, columns] = overlay.grid;
    /** @type {(value: number, whole: number, count: number) => number} */
    const part = (value, whole, count) => Math.min(count - 1, Math.max(0, Math.floor((value / whole) * count)));
    const row = part(offsetY, field.clientHeight, rows);
    const cell = row * columns + part(offsetX, field.clientWidth, columns);
    tellCell(cell, cellName(cell));
  });
  field.addEventListener("pointerleave", showWord);
}
