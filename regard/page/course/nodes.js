// Elements from the trees into which the server has turned Markdown; texts stay texts.

import { element } from "../parts/common.js";

/** @typedef {string | { tag: any, href?: string, children: CourseNode[] }} CourseNode */

/** @type {(nodes: CourseNode[]) => (string | HTMLElement)[]} */
export const elementsOf = (nodes) => nodes.map((node) => (typeof node === "string" ? node : elementOf(node)));

/** @param {Exclude<CourseNode, string>} node */
function elementOf({ tag, href, children }) {
  const made = element(tag, href ? { href, target: "_blank", rel: "noreferrer" } : {}, ...elementsOf(children));
  if (tag === "pre") made.tabIndex = 0; // so that keys can scroll it
  return tag === "table" ? element("div", { class: "fitted" }, made) : made;
}
