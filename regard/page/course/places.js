// The place in a lesson that is being read, kept in this tab: a page that is loaded again returns to it.

/** @typedef {{ id: string, top: number }} Place a step or an exercise, and where it was in the window */

/** @param {number} lesson */
const keyOf = (lesson) => `regard-course-${lesson}`;

/**
 * The last part that begins in the upper half of the window.
 * @param {HTMLElement[]} boxes
 * @returns {Place | null}
 */
function placeOf(boxes) {
  const reached = boxes.findLast((box) => topOf(box) < innerHeight / 2);
  return reached ? { id: reached.id, top: topOf(reached) } : null;
}

/** @param {HTMLElement} box */
const topOf = (box) => box.getBoundingClientRect().top;

/**
 * Return to the place where this lesson was left, and keep it when the page is left again.
 * @param {number} lesson
 * @param {{ box: HTMLElement }[]} parts
 */
export function returnToPlace(lesson, parts) {
  const boxes = parts.map(({ box }) => box);
  history.scrollRestoration = "manual"; // the browser would try before the lesson is there
  try {
    /** @type {Place | null} */
    const kept = JSON.parse(sessionStorage.getItem(keyOf(lesson)) ?? "null");
    const box = boxes.find(({ id }) => id === kept?.id);
    if (kept && box) scrollBy(0, topOf(box) - kept.top);
  } catch {
    return; // Without storage, a page begins at its top.
  }
  addEventListener("pagehide", () => sessionStorage.setItem(keyOf(lesson), JSON.stringify(placeOf(boxes))));
}
