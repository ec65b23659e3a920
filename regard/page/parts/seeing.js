// Work that waits until its desk is visible: hidden desks send no requests, and have no width to lay out in.

/** @type {Map<Element, () => void>} */
const due = new Map(); // hidden desks, each with its waiting work

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const work = /** @type {HTMLElement} */ (target).offsetWidth ? due.get(target) : undefined;
    if (!work) continue;
    due.delete(target);
    work();
  }
});

/**
 * Do some work now, or as soon as its desk is visible; only the last work that waits for a desk is done.
 * @type {(desk: HTMLElement, work: () => void) => void}
 */
export function onceSeen(desk, work) {
  due.delete(desk);
  if (desk.offsetWidth) return work();
  due.set(desk, work);
  watcher.observe(desk);
}
