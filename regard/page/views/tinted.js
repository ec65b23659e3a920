// Attention to a text: one copy of the text for each query, its words tinted by their weights.

import { remember } from "../parts/address.js";
import { byId, element, percent, section } from "../parts/common.js";
import { headControls, headWeights, settleHead } from "../parts/heads.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Chosen, Looks } from "../parts/heads.js" */

const MOST_NUMBERED = 8; // up to this many rows, the weights are also printed below the words

/** @type {Looks & { rows: string[], columns: string[] }} */
let tinted; // the displayed data
/** @type {Chosen} */
let wanted = { layer: 1, head: "mean" }; // its block and head

/**
 * Show the attention of the requested block, for one head or all combined.
 * @type {(found: typeof tinted, wish: Wish) => void}
 */
export function showTinted(found, wish) {
  tinted = found;
  settleTinted({ ...tinted.start, ...wish });
}

/** @type {(wish: Wish) => void} */
function settleTinted(wish) {
  wanted = settleHead("tinted", tinted, wish);
  const count = tinted.columns.length;
  /** @type {(row: number) => number[]} */
  const weightsOf = (row) => headWeights(tinted, wanted, row * count, (row + 1) * count);
  byId("tinted-rows").replaceChildren(...tinted.rows.map((name, row) => tintedRow(name, weightsOf(row))));
}

/** @type {(name: string, weights: number[]) => HTMLTableRowElement} */
function tintedRow(name, weights) {
  const words = weights.flatMap((weight, place) => {
    const under = tinted.rows.length > MOST_NUMBERED ? [] : [element("rt", {}, percent(weight))];
    const word = element("ruby", { class: "tinted", title: percent(weight) }, tinted.columns[place], ...under);
    word.style.setProperty("--share", weight.toFixed(4));
    return [word, " "];
  });
  const looker = element("th", { scope: "row", dir: "auto" }, name);
  return element("tr", {}, looker, element("td", { dir: "auto" }, ...words));
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountTinted(holder) {
  const form = headControls("tinted", (wish) => {
    settleTinted({ ...wanted, ...wish });
    remember(wanted);
  });
  const table = element("table", { id: "tinted" }, element("tbody", { id: "tinted-rows" }));
  const part = section("tinted", say("overlay.title"), table);
  holder.append(form, element("p", { id: "tinted-caption", class: "caption" }), part);
  savable(part, () => `attention-block-${wanted.layer}-head-${wanted.head}`, () => tinted);
}
