// A slider with its label and its value, for the controls of a view.

import { element } from "./common.js";

const PAUSE = 200; // milliseconds without a move before the value takes effect

/**
 * A slider from 1 to `most`; `moved` is called with its value once it stops moving.
 * @type {(id: string, name: string, most: number, moved: (value: number) => void) => HTMLDivElement}
 */
export function range(id, name, most, moved) {
  const input = element("input", { type: "range", id, min: 1, max: most, step: 1 });
  const value = element("output", { id: `${id}-value`, for: id });
  /** @type {number | undefined} */
  let waiting;
  input.addEventListener("input", () => {
    value.value = input.value;
    clearTimeout(waiting);
    waiting = setTimeout(() => moved(Number(input.value)), PAUSE);
  });
  return element("div", { class: "ranged" }, element("label", { for: id }, name), input, value);
}
