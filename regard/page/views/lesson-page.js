// The page of a lesson: its picture, then its numbers as tables.

import { byId, element, section } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";

/** @typedef {{ title: string, columns: string[], rows: string[][], caption: string }} Table */

/** @type {(table: Table) => HTMLElement} */
function numbers({ columns, rows }) {
  const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, element("bdi", {}, cell)))));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { class: "numbers", tabindex: 0, role: "group", "aria-label": say("lesson.numbers") }, table);
}

const data = enclosed();
openPlainPage(say("lesson.page"), data.title);
const picture = element("img", { src: data.picture, alt: say("lesson.picture", { title: data.title }) });
byId("views").append(element("div", { class: "picture", tabindex: 0 }, picture));
data.tables.forEach((/** @type {Table} */ table, /** @type {number} */ place) => {
  const caption = element("p", { class: "caption" }, table.caption);
  byId("views").append(section(`table-${place + 1}`, table.title, numbers(table), ...(table.caption ? [caption] : [])));
});
