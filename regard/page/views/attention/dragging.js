// Dragging a link between the two lines of words: the end at the key goes to the word on which it is dropped.

import { drawing } from "../../parts/common.js";
import { relink } from "./state.js";

/** @typedef {{ row: number, from: number | null, x: number, y: number, isMoving: boolean }} Drag */

const STILL = 5; // pixels; a pointer that moves less has clicked

/**
 * The link, or the word that looks, under the pointer.
 * @type {(target: any) => { row: number, from: number | null } | null}
 */
function grasped(target) {
  const grip = target.closest?.(".grip");
  if (grip) return { row: Number(grip.dataset.row), from: Number(grip.dataset.column) };
  const word = target.closest?.("#rows .word");
  return word && { row: [...word.parentElement.children].indexOf(word), from: null };
}

/** @type {(x: number, y: number) => Element | null} */
const keyAt = (x, y) => document.elementFromPoint(x, y)?.closest("#columns .word") ?? null;

/**
 * Let links, and words that look, be dragged to a word that is looked at.
 * @type {(lines: HTMLElement) => void}
 */
export function listenToLinks(lines) {
  /** @type {Drag | null} */
  let drag = null;
  const trail = drawing("path", { class: "trail" });

  /** @type {(over: Element | null) => void} */
  const aim = (over) => {
    lines.querySelectorAll(".word").forEach((word) => word.classList.toggle("target", word === over));
  };
  const stop = () => {
    drag = null;
    lines.classList.remove("dragging");
    trail.remove();
    aim(null);
  };

  lines.addEventListener("pointerdown", ({ target, clientX: x, clientY: y, button }) => {
    const start = relink && !button ? grasped(target) : null;
    drag = start && { ...start, x, y, isMoving: false };
  });
  lines.addEventListener("pointermove", ({ clientX, clientY, pointerId }) => {
    if (!drag) return;
    if (!drag.isMoving) {
      if (Math.hypot(clientX - drag.x, clientY - drag.y) < STILL) return;
      drag.isMoving = true;
      lines.classList.add("dragging");
      lines.setPointerCapture(pointerId);
      lines.querySelector("#grips")?.append(trail);
    }
    const origin = lines.getBoundingClientRect();
    const box = lines.querySelectorAll("#rows .word")[drag.row].getBoundingClientRect();
    const ends = [box.left + box.width / 2, box.top + box.height / 2, clientX, clientY];
    const [x1, y1, x2, y2] = ends.map((end, place) => end - (place % 2 ? origin.top : origin.left));
    trail.setAttribute("d", `M${x1},${y1} L${x2},${y2}`);
    aim(keyAt(clientX, clientY));
  });
  lines.addEventListener("pointerup", ({ clientX, clientY }) => {
    const [ended, over] = [drag, keyAt(clientX, clientY)];
    stop();
    if (!ended?.isMoving || !over?.parentElement) return;
    const to = [...over.parentElement.children].indexOf(over);
    if (to !== ended.from) relink?.(ended.row, ended.from, to);
  });
  lines.addEventListener("pointercancel", stop);
}
