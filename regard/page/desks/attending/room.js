// The attention view with its editing part. A page has one of them, which moves to the desk that is visible.

import { remember, wished } from "../../parts/address.js";
import { layOutAttention, mountAttention, showAttention } from "../../views/attention.js";
import { element } from "../../parts/common.js";
import { mountEditing, showEditing } from "../editing.js";
import { followWidth } from "../../parts/opening.js";

/** @import { Subject } from "../editing.js" */
/** @import { Sight } from "../../views/attention/state.js" */
/** @typedef {{ holder: HTMLElement, again: () => void, shown: { seen: Sight, subject: Subject } | null }} Home */
/** @typedef {(seen: Sight, subject: Subject) => void} Show */

/** @type {HTMLElement | null} */
let room = null; // the elements of the view, once it is mounted
/** @type {Home | null} */
let home = null; // where it is

/**
 * Make a place for the view and return the function that shows attention there, as soon as the place is visible.
 * `again` requests the attention again, for other edits or for the mode in the address.
 * @type {(holder: HTMLElement, again: () => void) => Show}
 */
export function makeHome(holder, again) {
  /** @type {Home} */
  const own = { holder, again, shown: null };
  const enter = () => holder.clientWidth && own.shown && moveTo(own);
  new ResizeObserver(() => home !== own && enter()).observe(holder);
  return (seen, subject) => {
    own.shown = { seen, subject };
    enter();
  };
}

/** @type {(next: Home) => void} */
function moveTo(next) {
  if (home !== next) next.holder.append((room ??= element("div")));
  if (!home) mountRoom(/** @type {HTMLElement} */ (room));
  home = next;
  const { seen, subject } = /** @type {{ seen: Sight, subject: Subject }} */ (next.shown);
  showAttention({ ...seen, offered: ["words", "tokens"] }, wished());
  showEditing(subject);
}

/** @type {(holder: HTMLElement) => void} */
function mountRoom(holder) {
  const again = () => home?.again();
  mountAttention(holder, (mode) => {
    remember({ mode });
    again();
  });
  mountEditing(again);
  followWidth(layOutAttention, holder);
}
