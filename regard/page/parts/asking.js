// One request at a time: a new request cancels the pending one, and a refusal is shown.

import { byId, element } from "./common.js";
import { Refusal } from "./server.js";
import { say } from "./texts.js";

/** @typedef {(work: (signal: AbortSignal) => Promise<void>) => Promise<void>} Attempt */

/**
 * Say above `part`, if it shows nothing, that its content is being computed; the returned function removes that again.
 * @type {(part: HTMLElement) => () => void}
 */
export function tellComputing(part) {
  if (part.offsetHeight) return () => {};
  const note = element("p", { class: "hint computing", role: "status" }, say("trouble.computing"));
  part.before(note);
  return () => note.remove();
}

/**
 * Run requests for `part`, marked as busy meanwhile; a refusal calls `refused` and is then shown in `trouble`.
 * @type {(part: string, trouble: string, refused?: () => void) => { attempt: Attempt, forget: () => void }}
 */
export function oneAtATime(part, trouble, refused = () => {}) {
  /** @type {AbortController | null} */
  let controller = null;

  function forget() {
    controller?.abort();
    byId(trouble).hidden = true;
    byId(part).removeAttribute("aria-busy");
  }

  /** @type {Attempt} */
  async function attempt(work) {
    forget();
    const { signal } = (controller = new AbortController());
    byId(part).setAttribute("aria-busy", true);
    const removeNote = tellComputing(byId(part));
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      refused();
      byId(trouble).textContent = error.message;
      byId(trouble).hidden = false;
    } finally {
      removeNote();
      if (!signal.aborted) byId(part).removeAttribute("aria-busy");
    }
  }

  return { attempt, forget };
}
