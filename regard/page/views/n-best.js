// Alternatives: the n-best list of a sentence. A chosen one replaces the first.

import { remember } from "../parts/address.js";
import { byId, element, section } from "../parts/common.js";
import { outputLine } from "../parts/outputs.js";
import { range } from "../parts/ranges.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @import { Child } from "../parts/common.js" */
/** @typedef {{ text: string, score: number | null }} Candidate */

/** @type {Candidate[]} */
let listed = [];

/** @type {(candidates: Candidate[], current: string, language: string, count: number) => void} */
export function showNBest(candidates, current, language, count) {
  listed = candidates;
  const lines = candidates.map(({ text, score }, place) => {
    const line = outputLine({ rank: place + 1, score, text }, language, place);
    const chosen = /** @type {HTMLButtonElement} */ (line.querySelector("button"));
    chosen.setAttribute("aria-pressed", String(text === current));
    chosen.querySelector("bdi")?.replaceChildren(...compared(text, candidates[0].text));
    return line;
  });
  const focused = /** @type {HTMLElement?} */ (document.activeElement?.closest("#n-best .output"))?.dataset.place;
  byId("n-best").replaceChildren(...lines);
  if (focused !== undefined) lines[Number(focused)]?.querySelector("button")?.focus();
  [byId("n-best-count").value, byId("n-best-count-value").value] = [count, count];
}

/**
 * A text with the words marked in which it differs from the best.
 * @type {(text: string, best: string) => Child[]}
 */
function compared(text, best) {
  const [own, others] = [text.split(" "), best.split(" ")];
  const common = inCommon(own, others);
  return own.flatMap((word, place) => [place ? " " : "", common.has(place) ? word : element("mark", {}, word)]);
}

/**
 * The places of the items of one list that are in a longest common subsequence with another.
 * @param {string[]} own
 * @param {string[]} others
 */
export function inCommon(own, others) {
  const table = Array.from({ length: own.length + 1 }, () => new Array(others.length + 1).fill(0));
  for (let row = own.length - 1; row >= 0; row -= 1) {
    for (let column = others.length - 1; column >= 0; column -= 1) {
      const isSame = own[row] === others[column];
      table[row][column] = isSame
        ? table[row + 1][column + 1] + 1
        : Math.max(table[row + 1][column], table[row][column + 1]);
    }
  }
  const found = new Set();
  for (let row = 0, column = 0; row < own.length && column < others.length; ) {
    if (own[row] === others[column]) [row, column] = [found.add(row) && row + 1, column + 1];
    else if (table[row + 1][column] >= table[row][column + 1]) row += 1;
    else column += 1;
  }
  return found;
}

/**
 * Mount the list; `counted` is called when the number of outputs changes, `chosen` with a chosen output.
 * @type {(holder: HTMLElement, most: number, counted: () => void, chosen: (text: string) => void) => void}
 */
export function mountNBest(holder, most, counted, chosen) {
  const list = element("ol", { id: "n-best", class: "outputs" });
  const hint = element("p", { class: "hint unsaved" }, say("others.hint"));
  const made = section("n-best", say("others.title"), hint, list);
  const counting = range("n-best-count", say("others.count"), most, (count) => {
    remember({ n: count });
    counted();
  });
  holder.append(element("form", { class: "controls", "aria-label": say("others.controls") }, counting), made);
  savable(made, "n-best", () => listed);
  list.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = target.closest(".output")?.dataset.place;
    if (place !== undefined) chosen(listed[place].text);
  });
}
