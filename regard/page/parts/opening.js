// Start-up of a page in a single file: it contains its data, its heading shows the texts, and it follows the address.

import { wished } from "./address.js";
import { byId, element, word } from "./common.js";
import { languageChoice, say } from "./texts.js";

/** @import { Wish } from "./address.js" */
/** @typedef {{ text: string, language: string }} Text */

/**
 * The data embedded in the page.
 * @type {() => any}
 */
export const enclosed = () => JSON.parse(byId("data").textContent);

/**
 * The heading: the source text, and the target text, which may be unfinished.
 * @type {(title: string, pair: { source: Text, target: Text }, ending?: string) => void}
 */
export function openPage(title, { source, target }, ending = "") {
  /** @type {(name: string, text: Text) => HTMLElement} */
  const line = (name, { text, language }) => {
    const shown = word(text, language);
    shown.id = name;
    return element("div", {}, element("dt", {}, say(`pair.${name}`)), element("dd", {}, shown));
  };
  const pair = element("dl", { class: "pair" }, line("source", source), ...(ending ? [] : [line("target", target)]));
  byId("heading").append(element("h1", {}, title), languageChoice(), pair);
  document.title = `${source.text} → ${target.text}${ending}`;
  byId("views").hidden = false;
}

/**
 * The heading of a page about one subject instead of a pair of texts.
 * @type {(title: string, subject: string) => void}
 */
export function openPlainPage(title, subject) {
  const about = element("p", { id: "subject", class: "subject" }, subject);
  byId("heading").append(element("h1", {}, title), languageChoice(), about);
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
 * Lay out again when the width of the holder changes; the height follows from it. A hidden holder has no width, and
 * is laid out once it becomes visible.
 * @type {(layOut: () => void, holder?: HTMLElement) => void}
 */
export function followWidth(layOut, holder = document.body) {
  let width = holder.clientWidth;
  new ResizeObserver(() => {
    if (!holder.clientWidth || width === holder.clientWidth) return;
    width = holder.clientWidth;
    layOut();
  }).observe(holder);
}
