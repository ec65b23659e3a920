// One question at a time: what was asked for before and did not come yet is forgotten, and a refusal is told.

import { byId } from "./common.js";
import { Refusal } from "./server.js";

/** @typedef {(work: (signal: AbortSignal) => Promise<void>) => Promise<void>} Attempt */

/**
 * What asks for a part of the page, busy meanwhile; a refusal is told in `trouble` once `refused` left nothing old.
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
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      refused();
      byId(trouble).textContent = error.message;
      byId(trouble).hidden = false;
    } finally {
      if (!signal.aborted) byId(part).removeAttribute("aria-busy");
    }
  }

  return { attempt, forget };
}
