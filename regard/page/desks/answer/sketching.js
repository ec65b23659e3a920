// A field to draw in: a sheet of paper, which asks whenever a stroke ends.

import { button, element } from "../../parts/common.js";
import { clearPaper, makePaper, ownStrokes, ROOM, undoStroke } from "../../parts/paper.js";
import { say } from "../../parts/texts.js";

let paper = null;

/** A field for drawings that usually fit into `extent` units; `ask` is called when something else is there. */
export function makeSketchField(attributes, extent, ask) {
  paper = makePaper("sketch", say("draw.paper"), () => {
    if (!paper.stroke) ask();
  });
  clearPaper(paper, ROOM * extent);
  const undo = button({ class: "plain" }, say("draw.undo"));
  const clear = button({ class: "plain" }, say("draw.clear"));
  undo.addEventListener("click", () => {
    undoStroke(paper);
    ask();
  });
  clear.addEventListener("click", () => {
    clearPaper(paper);
    ask();
  });
  const hint = element("p", { class: "foot" }, say("answer.drawing_hint"));
  return element("div", { ...attributes, class: "sheet" }, hint, paper.root, undo, " ", clear);
}

/** What was drawn, as the server takes it; nothing where the sheet is empty. */
export const sketched = () => (paper?.own.length ? { drawing: ownStrokes(paper) } : "");
