// What a model looks at: lines with links, the matrix, and the sheet of all blocks and heads, with one set of controls.

import { element } from "../parts/common.js";
import { layOutLines, mountLines, showLines } from "./attention/lines.js";
import { layOutMatrix, mixColours, mountMatrix, showMatrix } from "./attention/matrix.js";
import { savable } from "../parts/saving.js";
import { layOutSheet, mountSheet, showSheet } from "./attention/sheet.js";
import { block, mountControls, shown, sight, state, take, title } from "./attention/state.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Sight } from "./attention/state.js" */

/**
 * Make room for the view; `lacking` is told of a mode that is offered but not here yet.
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
 * What a file of what is shown is called: its side, block and head are part of the name.
 * @type {(kind: string) => string}
 */
const fileName = (kind) => `attention-${kind}-${state.side}-block-${state.layer}-head-${state.head}`;

/**
 * Show what was seen: `modes` with their sides, and the texts of source and target.
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

/** Draw it anew for another width of the window. */
export function layOutAttention() {
  layOutLines();
  layOutMatrix();
  layOutSheet();
}

/** What the lines and the matrix show, as numbers. */
function oneMatrix() {
  const { rows, columns } = shown();
  const { where, heads, entropy } = block();
  const texts = { source: sight.source.text, target: sight.target.text };
  return { ...texts, title: title(), where, ...state, rows, columns, weights_are: "ten-thousandths", heads, entropy };
}
