// Tables of a lesson: numbers under colours, large tables as colours alone, and rows of words.

import { element, section } from "../parts/common.js";
import { brushOf, pageColour } from "../parts/raster.js";
import { decimal } from "../parts/texts.js";

/**
 * @typedef {object} NumberTable
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {number[]} values row by row
 * @property {number} digits
 * @property {number} most the largest absolute value
 * @property {boolean} isLarge
 * @property {boolean} isSigned
 */

/** @typedef {{ columns: string[], rows: string[][] }} WordTable */

/** @type {(names: string[]) => HTMLTableSectionElement} */
const head = (names) =>
  element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));

/** @type {(table: NumberTable, value: number) => HTMLTableCellElement} */
function numberCell({ most, digits, isSigned }, value) {
  const side = isSigned ? (value < 0 ? "minus" : "plus") : "only";
  const cell = element("td", { class: side }, decimal(value, digits));
  cell.style.setProperty("--share", (Math.abs(value) / most).toFixed(4));
  return cell;
}

/** @type {(table: NumberTable) => HTMLElement} */
function numberTable(table) {
  const { rows, columns, values } = table;
  const lines = rows.map((name, row) => {
    const own = values.slice(row * columns.length, (row + 1) * columns.length);
    const cells = own.map((value) => numberCell(table, value));
    return element("tr", {}, element("th", { scope: "row", dir: "auto" }, name), ...cells);
  });
  return element("table", { class: "lesson-table numbers" }, head(["", ...columns]), element("tbody", {}, ...lines));
}

/** @type {(names: string[], way: string) => HTMLElement} */
const ends = (names, way) =>
  element("div", { class: `ends ${way}` }, element("span", {}, names[0]), element("span", {}, names[names.length - 1]));

/**
 * A large table, a pixel for each number, with the names of its first and last rows and columns.
 * @type {(table: NumberTable, title: string) => HTMLElement}
 */
function field({ rows, columns, values, most, isSigned }, title) {
  const canvas = element("canvas", { width: columns.length, height: rows.length, role: "img", "aria-label": title });
  const paint = () => {
    const picture = new ImageData(columns.length, rows.length);
    const [below, above] = [pageColour("--out"), pageColour(isSigned ? "--in" : "--out")];
    values.forEach((value, place) => {
      picture.data.set([...(value < 0 ? below : above), (255 * Math.abs(value)) / most], place * 4);
    });
    brushOf(canvas).putImageData(picture, 0, 0);
  };
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  const across = ends(columns, "across");
  return element("div", { class: "lesson-field" }, element("span"), across, ends(rows, "down"), canvas);
}

/** @type {(table: WordTable) => HTMLElement} */
function wordTable({ columns, rows }) {
  const lines = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", { dir: "auto" }, cell))));
  return element("table", { class: "lesson-table words" }, head(columns), element("tbody", {}, ...lines));
}

/**
 * A table as a section with its title and caption; `name` begins its ids.
 * @type {(table: any, name: string) => HTMLElement}
 */
export function tableSection(table, name) {
  const drawn =
    table.kind === "words" ? wordTable(table) : table.isLarge ? field(table, table.title) : numberTable(table);
  const caption = table.caption ? [element("p", { class: "caption", lang: "en" }, table.caption)] : [];
  const holder = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": table.title }, drawn);
  return section(name, table.title, holder, ...caption);
}
