// A field to draw in: a sheet of paper that sends a request after each stroke.

import { button, element } from "../../parts/common.js";
import { clearPaper, makePaper, ownStrokes, ROOM, undoStroke } from "../../parts/paper.js";
import { say } from "../../parts/texts.js";

/** @import { Attributes } from "../../parts/common.js" */
/** @import { Paper } from "../../parts/paper.js" */

/** @type {Paper | null} */
let paper = null;

/**
 * A field for drawings that usually fit into `extent` units; `ask` is called when the drawing changes.
 * @type {(attributes: Attributes, extent: number, ask: () => void) => HTMLElement}
 */
export function makeSketchField(attributes, extent, ask) {
  const sheet = makePaper("sketch", say("draw.paper"), () => {
    if (!sheet.stroke) ask();
  });
  paper = sheet;
  clearPaper(sheet, ROOM * extent);
  const undo = button({ class: "plain" }, say("draw.undo"));
  const clear = button({ class: "plain" }, say("draw.clear"));
  undo.addEventListener("click", () => {
    undoStroke(sheet);
    ask();
  });
  clear.addEventListener("click", () => {
    clearPaper(sheet);
    ask();
  });
  const hint = element("p", { class: "foot" }, say("answer.drawing_hint"));
  return element("div", { ...attributes, class: "sheet" }, hint, sheet.root, undo, " ", clear);
}

/** The drawing in the server's format, or nothing if the sheet is empty. */
export const sketched = () => (paper?.own.length ? { drawing: ownStrokes(paper) } : "");
