// The sheet: every block and head of a side as a small matrix; clicking one shows it large.

import { byId, button, element, reachable, section } from "../../parts/common.js";
import { colours, paint } from "./matrix.js";
import { changeAttention, isSwitchedOff, shown, sideName, state, weightsOf } from "./state.js";
import { decimal, say } from "../../parts/texts.js";

/** @import { Seen } from "./state.js" */

/** @type {{ blocks: Seen[], colours: number[][] } | null} */
let sheetShown = null; // the blocks on the sheet and their colours

/** @type {() => HTMLElement[]} */
const thumbs = () => [...byId("sheet").querySelectorAll(".thumb")];

export function showSheet() {
  byId("sheet-title").textContent = say("sheet.titled", { side: sideName(state.side) });
  if (sheetShown?.blocks !== shown().blocks || sheetShown.colours !== colours) {
    sheetShown = { blocks: shown().blocks, colours };
    byId("sheet").replaceChildren(...shown().blocks.map(thumbLine));
  }
  /** @type {(thumb: HTMLElement) => boolean} */
  const isChosen = ({ dataset }) => dataset.layer === String(state.layer) && dataset.head === String(state.head);
  thumbs().forEach((thumb) => {
    thumb.setAttribute("aria-pressed", String(isChosen(thumb)));
    thumb.classList.toggle("off", isSwitchedOff(Number(thumb.dataset.layer), Number(thumb.dataset.head)));
  });
  reachable(thumbs(), thumbs().find(isChosen) ?? thumbs()[0]);
  layOutSheet();
}

/** @type {(each: Seen, number: number) => HTMLDivElement} */
function thumbLine(each, number) {
  const name = shown().blocks.length > 1 ? say("heads.block", { number: number + 1 }) : "";
  const line = element("div", { class: "heads" }, ...each.heads.map((_, head) => thumb(each, number, head, name)));
  return element("div", { class: name ? "block" : "block alone" }, ...(name ? [element("span", {}, name)] : []), line);
}

/** @type {(each: Seen, number: number, head: number, name: string) => HTMLButtonElement} */
function thumb(each, number, head, name) {
  const canvas = element("canvas", { "aria-hidden": true });
  paint(canvas, shown().columns.length, weightsOf(each, head + 1));
  const entropy = decimal(each.entropy[head], 2);
  const about = [say("heads.head", { number: head + 1 }), say("sheet.entropy", { value: entropy })];
  const label = [name, ...about].filter(Boolean).join(", ");
  const place = { "data-layer": number + 1, "data-head": head + 1 };
  const attributes = { class: "thumb", title: label, "aria-label": label, ...place };
  return button(attributes, canvas, element("span", {}, `${head + 1} · ${entropy}`));
}

/** Make the thumbnails as large as possible with all heads of a block on one line, within limits. */
export function layOutSheet() {
  const { blocks, rows, columns } = shown();
  const most = Math.max(...blocks.map(({ heads }) => heads.length));
  const room = byId("sheet").querySelector(".heads").clientWidth / most - 18;
  const pixel = Math.min(14, Math.min(Math.max(room, 40), 96) / Math.max(rows.length, columns.length));
  byId("sheet").querySelectorAll("canvas").forEach((/** @type {HTMLCanvasElement} */ canvas) => {
    canvas.style.width = `${Math.max(8, columns.length * pixel)}px`;
    canvas.style.height = `${Math.max(8, rows.length * pixel)}px`;
  });
}

/**
 * Build the sheet.
 * @type {(holder: HTMLElement) => HTMLElement}
 */
export function mountSheet(holder) {
  const hint = element("p", { class: "hint" }, say("sheet.hint"));
  const sheet = element("div", { id: "sheet" });
  const made = section("sheet", say("sheet.title"), hint, sheet);
  listenToThumbs(sheet);
  holder.append(made);
  return made;
}

/** @type {(sheet: HTMLElement) => void} */
function listenToThumbs(sheet) {
  sheet.addEventListener("click", (/** @type {any} */ { target }) => {
    const chosen = target.closest(".thumb");
    if (!chosen) return;
    changeAttention({ layer: chosen.dataset.layer, head: chosen.dataset.head });
    const { top, bottom } = byId("matrix").getBoundingClientRect();
    if (bottom < 0 || top > innerHeight) byId("matrix-title").scrollIntoView();
  });
  sheet.addEventListener("keydown", (event) => {
    const focused = /** @type {HTMLElement} */ (event.target);
    const from = thumbs().indexOf(focused);
    const across = focused.parentElement?.children.length ?? 1;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    const to = step && thumbs()[from + step];
    if (!to) return;
    event.preventDefault();
    reachable(thumbs(), to);
    to.focus();
  });
}
