// A text that was looked at: once for each that looks, its words tinted by how much of the look rests on them.

import { remember } from "./address.js";
import { byId, choiceName, element, offer, percent, section } from "./common.js";
import { savable } from "./saving.js";
import { say, sayParts } from "./texts.js";

const MOST_NUMBERED = 8; // rows whose weights stand under the words in numbers too
const ONE = 10_000; // a weight of 1, as it comes
const JOINED = ["mean", "max"];

let tinted = null; // what is shown
let wanted = {}; // its block and head

/** Show what was looked at, and of it what is wished for: a block, and a head or how all are joined. */
export function showTinted(found, wish) {
  tinted = found;
  settleTinted({ ...tinted.start, ...wish });
}

function settleTinted({ layer, head }) {
  layer = tinted.blocks[layer - 1] ? Number(layer) : tinted.start.layer;
  const { heads, where } = tinted.blocks[layer - 1];
  if (!JOINED.includes(head)) head = Number(head) >= 1 && Number(head) <= heads.length ? Number(head) : "mean";
  wanted = { layer, head };
  const numbers = (many) => Array.from({ length: many }, (_, place) => String(place + 1));
  offer(byId("tinted-layer"), numbers(tinted.blocks.length), layer);
  offer(byId("tinted-head"), heads.length > 1 ? [...JOINED, ...numbers(heads.length)] : [], head, choiceName);
  byId("tinted-caption").replaceChildren(...sayParts("shown.where", { where: element("code", {}, where) }));
  byId("tinted-rows").replaceChildren(...tinted.rows.map((name, row) => tintedRow(name, weightsOf(heads, row))));
}

/** The weights of one row over all words, of one head or of all joined. */
function weightsOf(heads, row) {
  const count = tinted.columns.length;
  const own = (head) => head.slice(row * count, (row + 1) * count).map((weight) => weight / ONE);
  if (!JOINED.includes(wanted.head)) return own(heads[wanted.head - 1]);
  const all = heads.map(own);
  return all[0].map((_, place) => {
    const each = all.map((weights) => weights[place]);
    return wanted.head === "max" ? Math.max(...each) : each.reduce((sum, weight) => sum + weight, 0) / each.length;
  });
}

function tintedRow(name, weights) {
  const words = weights.flatMap((weight, place) => {
    const under = tinted.rows.length > MOST_NUMBERED ? [] : [element("rt", {}, percent(weight))];
    const word = element("ruby", { class: "tinted", title: percent(weight) }, tinted.columns[place], ...under);
    word.style.setProperty("--share", weight.toFixed(4));
    return [word, " "];
  });
  const looker = element("th", { scope: "row", dir: "auto" }, name);
  return element("tr", {}, looker, element("td", { dir: "auto" }, ...words));
}

/** Make room for the view. */
export function mountTinted(holder) {
  const group = (id) => element("fieldset", { id: `tinted-${id}` }, element("legend", {}, say(`controls.${id}`)));
  const groups = ["layer", "head"].map(group);
  const form = element("form", { class: "controls", "aria-label": say("controls.what") }, ...groups);
  const table = element("table", { id: "tinted" }, element("tbody", { id: "tinted-rows" }));
  const part = section("tinted", say("overlay.title"), table);
  holder.append(form, element("p", { id: "tinted-caption", class: "caption" }), part);
  savable(part, () => `attention-block-${wanted.layer}-head-${wanted.head}`, () => tinted);
  form.addEventListener("change", ({ target }) => {
    settleTinted({ ...wanted, [target.name.replace("tinted-", "")]: target.value });
    remember(wanted);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}
