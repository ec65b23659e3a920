// A gallery: the best and the worst captions of a model, each under its picture, which shows the attention of a word.

import { byId, element, reachable, section, walkable } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { paintPicture, paintTint } from "../parts/raster.js";
import { decimal, say } from "../parts/texts.js";

/** @import { Picture } from "../parts/raster.js" */

/**
 * @typedef {object} Caption
 * @property {string} name
 * @property {string[]} words
 * @property {string[]} references
 * @property {number} score
 * @property {Picture | null} picture
 * @property {number} columns
 * @property {number[][]} weights of each word over the cells of the picture
 */

const TINT = [255, 158, 0]; // orange on grey is visible with any kind of colour vision

/**
 * The picture of a caption below a canvas for the attention; without a picture, an empty field of the size of the grid.
 * @type {(caption: Caption) => HTMLDivElement}
 */
function shownPicture({ picture, columns, weights }) {
  const canvas = element("canvas", { "aria-hidden": true, width: 4, height: 3 });
  if (picture) paintPicture(canvas, picture);
  else if (columns) [canvas.width, canvas.height] = [columns, weights[0].length / columns];
  return element("div", { class: "shown" }, canvas, element("canvas", { class: "tint", "aria-hidden": true }));
}

/**
 * Show the attention of a word while the pointer is over it or it has the keyboard focus.
 * @type {(said: HTMLElement, caption: Caption, shown: HTMLElement) => void}
 */
function listenToWords(said, { picture, columns, weights }, shown) {
  const [canvas, tint] = /** @type {HTMLCanvasElement[]} */ ([...shown.children]);
  /** @type {(target: any) => void} */
  const point = (target) => {
    const place = target?.closest?.("[data-word]")?.dataset.word;
    if (picture) paintPicture(canvas, picture, place !== undefined);
    if (place === undefined) tint.width = 0;
    else paintTint(tint, columns, weights[place], TINT);
  };
  walkable(said, "[data-word]");
  for (const event of ["pointerover", "focusin"]) said.addEventListener(event, ({ target }) => point(target));
  for (const event of ["pointerleave", "focusout"]) said.addEventListener(event, () => point(null));
}

/** @type {(caption: Caption, measure: string) => HTMLLIElement} */
function card(caption, measure) {
  const isSeen = caption.weights.length > 0;
  const words = caption.words.map((word, place) => {
    return element("span", isSeen ? { "data-word": place, tabindex: -1 } : {}, word);
  });
  const said = element("p", { class: "said", dir: "auto" }, ...words.flatMap((word) => [word, " "]));
  const score = element("p", { class: "score" }, `${measure} ${decimal(caption.score, 2)} · ${caption.name}`);
  const texts = caption.references.map((text) => element("li", { dir: "auto" }, text));
  const wrote = element("details", {}, element("summary", {}, say("gallery.references")), element("ul", {}, ...texts));
  const shown = shownPicture(caption);
  if (isSeen) {
    reachable(words, words[0]);
    listenToWords(said, caption, shown);
  }
  return element("li", { class: "card" }, shown, said, score, wrote);
}

const data = enclosed();
openPlainPage(say("gallery.page"), data.title);
const about = say("gallery.about", { count: data.count, measure: data.measure });
const isSeen = [...data.best, ...data.worst].some((caption) => caption.weights.length > 0);
byId("views").append(element("p", { class: "caption" }, isSeen ? `${about} ${say("gallery.hint")}` : about));
for (const part of ["best", "worst"]) {
  const cards = data[part].map((/** @type {Caption} */ caption) => card(caption, data.measure));
  byId("views").append(section(part, say(`gallery.${part}`), element("ul", { class: "cards" }, ...cards)));
}
