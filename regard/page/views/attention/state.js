// The displayed attention of a pair of texts: side, layer, head and mode, as in the fragment of the address.

import { remember } from "../../parts/address.js";
import { byId, choiceName, element, offer, partName, tokenWord } from "../../parts/common.js";
import { decimal, isSaid, say, sayParts } from "../../parts/texts.js";

/** @import { Wish } from "../../parts/address.js" */
/** @import { Block, Head } from "../../parts/heads.js" */
/** @typedef {"source" | "target"} Party the side of the queries, or of the keys */

const STEPS = 10_000; // the server sends weights as whole ten-thousandths
// For a translator, the sides of queries and keys; other models attend within their input.
/** @type {Record<string, Party[]>} */
const SIDES = {
  cross: ["target", "source"],
  encoder: ["source", "source"],
  decoder: ["target", "target"],
  copying: ["target", "source"],
  pooling: ["target", "source"],
};
/** @type {Party[]} */
const WITHIN = ["source", "source"];
const JOININGS = ["mean", "max"];

/** @typedef {Block & { entropy: number[] }} Seen */
/** @typedef {{ rows: string[], columns: string[], usual: number, blocks: Seen[] }} Side */
/** @typedef {{ text: string, language: string }} Text */
/**
 * @typedef {object} Edited a place that a person edited: cells of a head or, with null, of all; null rows are all rows
 * @property {string} side
 * @property {number} layer
 * @property {number | null} head
 * @property {number[] | null} rows
 * @property {number[]} columns
 * @property {boolean} off whether the head is switched off
 */
/** @typedef {Record<string, Record<string, Side>>} Modes */
/** @typedef {{ source: Text, target: Text, modes: Modes, offered?: string[], edited?: Edited[] }} Sight */
/** @typedef {{ side: string, layer: number, head: Head, mode: string }} Shown */

/** @type {Sight} */
export let sight; // the texts, and all attention between them
/** @type {Shown} */
export let state;
/** @type {Float32Array} */
let weights; // of the displayed matrix, row by row
/** @type {() => void} */
let redraw; // the function that draws it
/** @type {(mode: string) => void} */
let lacking; // called with a mode that is offered but not loaded yet
/** @type {((row: number, from: number | null, to: number) => void) | null} */
export let relink = null; // called with a link that was dragged to another column; without it nothing can be dragged

export const shown = () => sight.modes[state.mode][state.side];
export const block = () => shown().blocks[state.layer - 1];
/** @type {(row: number, column: number) => number} */
export const weightAt = (row, column) => weights[row * shown().columns.length + column];

/**
 * Whether a person edited this cell of the displayed matrix.
 * @type {(row: number, column: number) => boolean}
 */
export const isEdited = (row, column) => {
  return editsHere(state.layer).some(({ head, rows, columns }) => {
    const isShown = head === null || isJoining(state.head) || head === state.head;
    return isShown && columns.includes(column) && (rows === null || rows.includes(row));
  });
};

/**
 * Whether a person switched this head off.
 * @type {(layer: number, head: number) => boolean}
 */
export const isSwitchedOff = (layer, head) => {
  return editsHere(layer).some((each) => each.off && (each.head === null || each.head === head));
};

/** @type {(layer: number) => Edited[]} */
const editsHere = (layer) => (sight.edited ?? []).filter((each) => each.side === state.side && each.layer === layer);

/**
 * Let links be dragged to another column, or, with null, no longer.
 * @type {(listener: typeof relink) => void}
 */
export function letRelink(listener) {
  relink = listener;
  byId("links-part").classList.toggle("editable", Boolean(listener));
  byId("matrix-part").classList.toggle("editable", Boolean(listener));
  if (sight) redraw();
}

/** The sides of the queries and of the keys. */
export const lookingSides = (side = state.side) => SIDES[side] ?? WITHIN;

/** @type {(head: Head) => head is string} */
const isJoining = (head) => JOININGS.includes(String(head));

/**
 * The name of a side.
 * @type {(side: string) => string}
 */
export const sideName = (side) => {
  const name = `sides.${side.replaceAll(" ", "_")}`;
  return isSaid(name) ? say(name) : side;
};

/**
 * A word of one side inside a sentence of the page.
 * @type {(text: string, side: Party) => HTMLElement}
 */
export const wordOf = (text, side) => tokenWord(text, sight[side].language);

/**
 * The valid state nearest to the requested one.
 * @type {(wish: Wish) => Shown}
 */
function settled({ mode, side, layer, head }) {
  if (!Object.hasOwn(sight.modes, mode)) mode = Object.keys(sight.modes)[0];
  const sides = sight.modes[mode];
  if (!Object.hasOwn(sides, side)) side = Object.keys(sides)[0];
  const { blocks, usual } = sides[side];
  layer = blocks[layer - 1] ? Number(layer) : usual;
  if (!isJoining(head)) head = blocks[layer - 1].heads[head - 1] ? Number(head) : "mean";
  return { side, layer, head, mode };
}

/**
 * Take new attention data and show the requested part.
 * @type {(seen: Sight, wish: Wish) => void}
 */
export function take(seen, wish) {
  sight = seen;
  state = settled(wish);
  draw();
}

/** @type {(wish: Wish) => void} */
export function changeAttention(wish) {
  const { mode } = wish;
  if (mode !== undefined && !Object.hasOwn(sight.modes, mode) && sight.offered?.includes(mode)) return lacking(mode);
  state = settled({ ...state, ...wish });
  remember(state);
  draw();
}

function draw() {
  weights = weightsOf(block(), state.head);
  showControls();
  showCaption();
  redraw();
}

/**
 * The weights of one head, or of the mean or the maximum of all heads.
 * @type {(block: { heads: number[][] }, head: Head) => Float32Array}
 */
export function weightsOf({ heads }, head) {
  if (!isJoining(head)) return Float32Array.from(heads[head - 1], (weight) => weight / STEPS);
  const joined = new Float32Array(heads[0].length);
  for (const each of heads) {
    each.forEach((weight, place) => {
      const share = weight / STEPS;
      joined[place] = head === "max" ? Math.max(joined[place], share) : joined[place] + share / heads.length;
    });
  }
  return joined;
}

/** A caption for the displayed attention: it names only what can vary. */
export function title() {
  const count = block().heads.length;
  const joining = isJoining(state.head) && say(`heads.${state.head}_of`, { count });
  const number = shown().blocks.length > 1 && say("heads.block", { number: state.layer });
  const head = count > 1 && (joining || say("heads.head", { number: state.head }));
  return [sideName(state.side), number, head].filter(Boolean).join(", ");
}

function showCaption() {
  const { entropy, where } = block();
  const chosen = isJoining(state.head) ? entropy : [entropy[Number(state.head) - 1]];
  const [low, high] = [Math.min(...chosen), Math.max(...chosen)].map((value) => decimal(value, 2));
  const spread = low === high ? say("heads.entropy", { value: low }) : say("heads.entropies", { low, high });
  const about = say(isSaid(`sides.${state.side}_about`) ? `sides.${state.side}_about` : "sides.within_about");
  const parts = sayParts("heads.caption", { about, what: title(), where: partName(where), spread });
  byId("caption").replaceChildren(...parts);
}

function showControls() {
  /** @type {(count: number) => string[]} */
  const numbers = (count) => Array.from({ length: count }, (_, place) => String(place + 1));
  const heads = block().heads.length;
  offer(byId("mode"), sight.offered ?? Object.keys(sight.modes), state.mode, (mode) => say(`modes.${mode}`));
  offer(byId("side"), Object.keys(sight.modes[state.mode]), state.side, sideName);
  offer(byId("layer"), numbers(shown().blocks.length), state.layer);
  offer(byId("head"), heads > 1 ? [...JOININGS, ...numbers(heads)] : [], state.head, choiceName);
}

/**
 * Build the controls and the description of the selected attention.
 * @type {(holder: HTMLElement, drawing: () => void, asking: (mode: string) => void) => void}
 */
export function mountControls(holder, drawing, asking) {
  [redraw, lacking] = [drawing, asking];
  /** @type {(id: string) => HTMLFieldSetElement} */
  const group = (id) => element("fieldset", { id }, element("legend", {}, say(`controls.${id}`)));
  const groups = ["side", "layer", "head", "mode"].map(group);
  const about = { "aria-label": say("controls.what") };
  const controls = element("form", { id: "controls", class: "controls", ...about }, ...groups);
  controls.addEventListener("change", (/** @type {any} */ { target }) => {
    changeAttention({ [target.name]: target.value });
  });
  controls.addEventListener("submit", (event) => event.preventDefault());
  holder.append(controls, element("p", { id: "caption", class: "caption", role: "status" }));
}
