// A slider with its name and its value, as one of the controls of a view.

import { element } from "./common.js";

const PAUSE = 200; // milliseconds without a move, then it counts

/**
 * A slider from 1 to `most`; `moved` hears of its value once it stays.
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
