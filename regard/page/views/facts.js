// Hops through a story: a line for each fact, and beside it the attention of each hop.

import { byId, element, percent, section } from "../parts/common.js";
import { savable } from "../parts/saving.js";
import { say } from "../parts/texts.js";

/** @typedef {{ facts: string[], forgotten: string[], question: string, answer: string, hops: number[][] }} Story */

const ONE = 10_000; // how the server encodes a weight of 1

/** @type {Story} */
let story; // the displayed story

/**
 * Show a story and the hops through it.
 * @type {(found: Story) => void}
 */
export function showFacts(found) {
  story = found;
  const names = story.hops.map((_, place) => say("facts.hop", { number: place + 1 }));
  const columns = names.map((name) => element("th", { scope: "col" }, name));
  byId("facts-head").replaceChildren(element("tr", {}, element("td"), ...columns));
  byId("facts-rows").replaceChildren(...story.facts.map(factLine));
  const count = story.forgotten.length;
  byId("facts-forgotten").hidden = !count;
  byId("facts-forgotten").textContent = count ? say("facts.forgotten", { count }) : "";
  byId("facts-asked").replaceChildren(
    element("span", { dir: "auto" }, story.question),
    " ",
    element("b", { dir: "auto" }, story.answer),
  );
}

/** @type {(fact: string, place: number) => HTMLTableRowElement} */
function factLine(fact, place) {
  const cells = story.hops.map((weights) => {
    const share = Math.min(1, Math.max(0, weights[place] / ONE));
    const isMost = weights[place] === Math.max(...weights);
    const cell = element("td", isMost ? { class: "most" } : {}, percent(share));
    cell.style.setProperty("--share", share.toFixed(4));
    return cell;
  });
  return element("tr", {}, element("th", { scope: "row", dir: "auto" }, fact), ...cells);
}

/**
 * Mount the view.
 * @type {(holder: HTMLElement) => void}
 */
export function mountFacts(holder) {
  const forgotten = element("p", { id: "facts-forgotten", class: "caption", hidden: "" });
  const head = element("thead", { id: "facts-head" });
  const table = element("table", { id: "facts" }, head, element("tbody", { id: "facts-rows" }));
  const asked = element("p", { id: "facts-asked" });
  const part = section("facts", say("facts.title"), forgotten, table, asked);
  holder.append(part);
  savable(part, "hops", () => story);
}
