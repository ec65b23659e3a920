// What a step has shown: text and pictures, and how far its run has come.

import { element } from "../parts/common.js";
import { duration, say } from "../parts/texts.js";

/** @typedef {{ text?: string, picture?: string, width?: number, height?: number }} Piece */
/**
 * The last run of a step, as the server tells it.
 * @typedef {{ status: "running" | "done" | "skipped" | "failed" | "stopped", pieces: Piece[], fault: string,
 *   is_cut: boolean, seconds: number }} StepRun
 */

/**
 * Bring the pieces of an output up to date. Text is appended to where it grows, so that only news is read aloud.
 * @param {HTMLElement} holder
 * @param {Piece[]} pieces
 * @param {number} number of the step
 */
export function showPieces(holder, pieces, number) {
  let pictures = 0;
  pieces.forEach((piece, place) => {
    const before = holder.children[place];
    pictures += piece.picture === undefined ? 0 : 1;
    const alt = say("course.picture", { place: String(pictures), number: String(number) });
    const made = piece.picture === undefined ? textPiece(before, piece.text ?? "") : pictureFrame(before, piece, alt);
    if (!before) holder.append(made);
    else if (before !== made) before.replaceWith(made);
  });
  [...holder.children].slice(pieces.length).forEach((each) => each.remove());
}

/** @type {(before: Element | undefined, text: string) => Element} */
function textPiece(before, text) {
  if (!(before instanceof HTMLPreElement)) return element("pre", { tabindex: 0 }, text);
  const shown = before.textContent ?? "";
  if (text.startsWith(shown)) {
    if (text.length > shown.length) before.append(text.slice(shown.length));
  } else {
    before.textContent = text;
  }
  return before;
}

/**
 * A picture in a frame that scrolls where the window is too narrow for it.
 * @type {(before: Element | undefined, piece: Piece, alt: string) => Element}
 */
function pictureFrame(before, { picture, width, height }, alt) {
  if (before && before.querySelector("img")?.getAttribute("src") === picture) return before;
  const image = element("img", { src: picture, width, height, alt }); // with its size, so that nothing moves later
  return element("div", { class: "frame", tabindex: 0 }, image);
}

/**
 * How far a run has come, in words.
 * @param {StepRun} run
 */
export function statusOf({ status, seconds }) {
  return say(`course.${status}`, { time: duration(seconds) });
}
