// Choosing a block and a head of attention, and the weights of one head or of all heads combined.

import { byId, choiceName, element, offer, partName } from "./common.js";
import { say, sayParts } from "./texts.js";

/** @import { Wish } from "./address.js" */

const WEIGHT_OF_ONE = 10_000; // how the server encodes a weight of 1
const JOINED = ["mean", "max"];

/** @typedef {number | string} Head the number of a head, or how all are combined: "mean" or "max" */
/** @typedef {{ where: string, heads: number[][] }} Block the weights of each head, row by row */
/** @typedef {{ layer: number, head: Head }} Chosen */
/** @typedef {{ blocks: Block[], start: Chosen }} Looks */

/**
 * A form to choose the block and the head of a view, followed by more controls; `changed` is called with the choice.
 * @param {string} view
 * @param {(wish: Wish) => void} changed
 * @param {Node[]} more
 */
export function headControls(view, changed, ...more) {
  /** @type {(id: string) => HTMLFieldSetElement} */
  const group = (id) => element("fieldset", { id: `${view}-${id}` }, element("legend", {}, say(`controls.${id}`)));
  const groups = ["layer", "head"].map(group);
  const form = element("form", { class: "controls", "aria-label": say("controls.what") }, ...groups, ...more);
  for (const each of groups) {
    each.addEventListener("change", (/** @type {any} */ { target }) => {
      changed({ [target.name.replace(`${view}-`, "")]: target.value });
    });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

/**
 * The valid block and head nearest to the requested ones; also shows them in the controls and the caption of the view.
 * @param {string} view
 * @param {Looks} looks
 * @param {Wish} wish
 * @returns {Chosen}
 */
export function settleHead(view, { blocks, start }, wish) {
  const layer = blocks[wish.layer - 1] ? Number(wish.layer) : start.layer;
  const { heads, where } = blocks[layer - 1];
  const head = JOINED.includes(wish.head) ? wish.head : heads[wish.head - 1] ? Number(wish.head) : "mean";
  /** @param {number} many */
  const numbers = (many) => Array.from({ length: many }, (_, place) => String(place + 1));
  offer(byId(`${view}-layer`), numbers(blocks.length), layer);
  offer(byId(`${view}-head`), heads.length > 1 ? [...JOINED, ...numbers(heads.length)] : [], head, choiceName);
  byId(`${view}-caption`).replaceChildren(...(where ? sayParts("shown.where", { where: partName(where) }) : []));
  return { layer, head };
}

/**
 * The weights of one head or of all combined, as shares, from one place to another.
 * @param {{ blocks: Block[] }} looks
 * @param {Chosen} chosen
 * @param {number} [from]
 * @param {number} [to]
 */
export function headWeights({ blocks }, { layer, head }, from, to) {
  const { heads } = blocks[layer - 1];
  /** @param {number[]} weights */
  const own = (weights) => weights.slice(from, to).map((weight) => weight / WEIGHT_OF_ONE);
  if (typeof head === "number") return own(heads[head - 1]);
  const all = heads.map(own);
  return all[0].map((_, place) => {
    const values = all.map((weights) => weights[place]);
    return head === "max" ? Math.max(...values) : values.reduce((sum, value) => sum + value) / values.length;
  });
}
