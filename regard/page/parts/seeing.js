// Work that waits until its desk is seen: what nobody looks at is not asked for, and has no width to be laid out in.

/** @type {Map<Element, () => void>} */
const due = new Map(); // desks that are hidden, each with the work that waits for it

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const work = /** @type {HTMLElement} */ (target).offsetWidth ? due.get(target) : undefined;
    if (!work) continue;
    due.delete(target);
    work();
  }
});

/**
 * Do some work now, or as soon as its desk is seen; of what waits for a desk only the last is done.
 * @type {(desk: HTMLElement, work: () => void) => void}
 */
export function onceSeen(desk, work) {
  due.delete(desk);
  if (desk.offsetWidth) return work();
  due.set(desk, work);
  watcher.observe(desk);
}
