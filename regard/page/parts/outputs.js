// Outputs, best first: used for the list beside a tree and for the n-best list of a sentence.

import { button, element, signed, word } from "./common.js";

/** @typedef {{ rank: number | null, score: number | null, text: string }} Output */

/**
 * A line of the list as a button: its rank, its score and its text.
 * @type {(output: Output, language: string, place: number) => HTMLLIElement}
 */
export function outputLine({ rank, score, text }, language, place) {
  const value = element("span", { class: "score" }, score === null ? "" : signed(score));
  const parts = [element("b", {}, String(rank)), value, word(text, language)];
  return element("li", {}, button({ class: "output", "data-place": place }, ...parts));
}
