// Attention: lines with links, the matrix, and the sheet of all blocks and heads, with one set of controls.

import { element } from "../parts/common.js";
import { layOutLines, mountLines, showLines } from "./attention/lines.js";
import { layOutMatrix, mixColours, mountMatrix, showMatrix } from "./attention/matrix.js";
import { savable } from "../parts/saving.js";
import { layOutSheet, mountSheet, showSheet } from "./attention/sheet.js";
import { block, mountControls, shown, sight, state, take, title } from "./attention/state.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Sight } from "./attention/state.js" */

/**
 * Mount the view; `lacking` is called with a mode that is offered but not loaded yet.
 * @type {(holder: HTMLElement, lacking?: (mode: string) => void) => void}
 */
export function mountAttention(holder, lacking = () => {}) {
  mixColours();
  mountControls(holder, drawAttention, lacking);
  savable(mountLines(holder), () => fileName("lines"), oneMatrix);
  const pictures = element("div", { id: "pictures" });
  holder.append(pictures);
  savable(mountMatrix(pictures), () => fileName("matrix"), oneMatrix);
  savable(mountSheet(pictures), () => `attention-heads-${state.side}`, () => sight);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    mixColours();
    if (sight) drawAttention();
  });
}

/**
 * The file name for the displayed attention: side, block and head are part of it.
 * @type {(kind: string) => string}
 */
const fileName = (kind) => `attention-${kind}-${state.side}-block-${state.layer}-head-${state.head}`;

/**
 * Show the attention: `modes` with their sides, and the texts of source and target.
 * @type {(seen: Sight, wish: Wish) => void}
 */
export function showAttention(seen, wish) {
  take(seen, wish);
}

function drawAttention() {
  showLines();
  showMatrix();
  showSheet();
}

/** Draw again for another width of the window. */
export function layOutAttention() {
  layOutLines();
  layOutMatrix();
  layOutSheet();
}

/** The data of the lines and the matrix. */
function oneMatrix() {
  const { rows, columns } = shown();
  const { where, heads, entropy } = block();
  const texts = { source: sight.source.text, target: sight.target.text };
  return { ...texts, title: title(), where, ...state, rows, columns, weights_are: "ten-thousandths", heads, entropy };
}
