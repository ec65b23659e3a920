// A table of numbers whose cells are tinted by their size: orange above zero, blue below.

import { element, tokenParts } from "./common.js";
import { decimal } from "./texts.js";

/**
 * @typedef {object} NumberTable
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {(number | null)[][]} values null is minus infinity
 * @property {number | null} query the row that is followed
 */

/**
 * @param {NumberTable} table
 */
export function numberTable({ rows, columns, values, query }) {
  const largest = Math.max(...values.flat().map((value) => Math.abs(value ?? 0)), 1e-9);
  const titles = columns.map((name) => element("th", { scope: "col", dir: "auto" }, ...tokenParts(name)));
  const head = element("tr", {}, element("td"), ...titles);
  const lines = rows.map((name, place) => {
    const cells = values[place].map((value) => numberCell(value, largest));
    const label = element("th", { scope: "row", dir: "auto" }, ...tokenParts(name));
    return element("tr", place === query ? { class: "followed" } : {}, label, ...cells);
  });
  const table = element("table", {}, element("thead", {}, head), ...lines);
  return element("div", { class: "numbers", tabindex: 0 }, table);
}

/** @type {(value: number | null, largest: number) => HTMLTableCellElement} */
function numberCell(value, largest) {
  if (value === null) return element("td", { class: "barred" }, "−∞");
  const cell = element("td", {}, tidyNumber(value));
  cell.style.setProperty("--weight", String(Math.abs(value) / largest));
  cell.className = value < 0 ? "below-zero" : "above-zero";
  return cell;
}

/**
 * A number with at most two decimals, none where it is whole.
 * @param {number} value
 */
export const tidyNumber = (value) => {
  const rounded = Math.round(value * 100) / 100 || 0;
  return decimal(rounded, Number.isInteger(rounded) ? 0 : 2).replace("-", "−");
};
