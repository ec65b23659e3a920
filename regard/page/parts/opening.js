// Start-up of a page in a single file: it contains its data, its heading shows the texts, and it follows the address.

import { wished } from "./address.js";
import { byId, element, word } from "./common.js";
import { describedEdit } from "./edited.js";
import { languageChoice, say } from "./texts.js";

/** @import { Wish } from "./address.js" */
/** @import { Edit } from "./edited.js" */
/** @typedef {{ text: string, language: string }} Text */

/** @type {any} */
let embedded;

/**
 * The data embedded in the page.
 * @type {() => any}
 */
export const enclosed = () => (embedded ??= JSON.parse(byId("data").textContent));

/**
 * A line of the heading: its name and its content.
 * @type {(name: string, ...content: Node[]) => HTMLElement}
 */
const headingLine = (name, ...content) => {
  return element("div", {}, element("dt", {}, say(`pair.${name}`)), element("dd", {}, ...content));
};

/**
 * The edits under which the model ran, and its output without them; nothing if there are none.
 * @type {(language?: string) => HTMLElement[]}
 */
function editLines(language = "") {
  const { edits_made: edited } = enclosed();
  if (!edited) return [];
  const sentences = edited.edits.map((/** @type {Edit} */ edit) => element("div", {}, describedEdit(edit)));
  const lines = [headingLine("edits", ...sentences)];
  if (edited.unedited) lines.push(headingLine("unedited", word(edited.unedited, language)));
  return [element("dl", { id: "edits-made", class: "pair made" }, ...lines)];
}

/**
 * The heading: the source text, and the target text, which may be unfinished.
 * @type {(title: string, pair: { source: Text, target: Text }, ending?: string) => void}
 */
export function openPage(title, { source, target }, ending = "") {
  /** @type {(name: string, text: Text) => HTMLElement} */
  const side = (name, { text, language }) => {
    const shown = word(text, language);
    shown.id = name;
    return headingLine(name, shown);
  };
  const pair = element("dl", { class: "pair" }, side("source", source), ...(ending ? [] : [side("target", target)]));
  byId("heading").append(element("h1", {}, title), languageChoice(), pair, ...editLines(target.language));
  document.title = `${source.text} → ${target.text}${ending}`;
  byId("views").hidden = false;
}

/**
 * The heading of a page about one subject instead of a pair of texts.
 * @type {(title: string, subject: string) => void}
 */
export function openPlainPage(title, subject) {
  const about = element("p", { id: "subject", class: "subject" }, subject);
  byId("heading").append(element("h1", {}, title), languageChoice(), about, ...editLines());
  document.title = subject;
  byId("views").hidden = false;
}

/**
 * Follow the fragment when it is edited by hand.
 * @type {(change: (wish: Wish) => void) => void}
 */
export function followAddress(change) {
  addEventListener("hashchange", () => change(wished()));
}

/**
 * Lay out once all of the page is there, which may bring a scrollbar, and again when the width of the holder changes;
 * the height follows from it. A hidden holder has no width, and is laid out once it becomes visible.
 * @type {(layOut: () => void, holder?: HTMLElement) => void}
 */
export function followWidth(layOut, holder = document.body) {
  let width = 0;
  new ResizeObserver(() => {
    if (!holder.clientWidth || width === holder.clientWidth) return;
    width = holder.clientWidth;
    layOut();
  }).observe(holder);
}
