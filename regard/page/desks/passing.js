// The forward pass of the text that is typed at a desk, in a panel that opens.

import { remember, wishedAll } from "../parts/address.js";
import { ask } from "../parts/server.js";
import { say } from "../parts/texts.js";
import { mountForward, showForward } from "../views/forward.js";
import { makeFolded } from "./folding.js";

/** @import { Folded } from "./folding.js" */

/**
 * The panel of a desk; its ids and its names in the address begin with `name`, and `textOf` returns the text.
 * @type {(name: string, textOf: () => string) => Folded}
 */
export function makePassing(name, textOf) {
  const texts = { title: say("forward.page"), about: say("forward.about"), empty: say("forward.empty") };
  const panel = makeFolded({ name, kind: "pass", texts, can: "forward", given: textOf, show });
  const view = mountForward(panel.holder, `${name}-forward`, (places, isMissing) => {
    remember({ [`${name}-layers`]: places });
    if (isMissing) panel.again();
  });

  /** @type {(model: string, text: string, signal: AbortSignal) => Promise<void>} */
  async function show(model, text, signal) {
    const found = await ask("v1/forward", { model, text, opened: [...view.open] }, signal);
    if (signal.aborted) return;
    panel.holder.hidden = false;
    showForward(view, found);
  }

  const follow = () => {
    panel.follow();
    view.open = new Set(wishedAll(`${name}-layers`));
  };
  return { ...panel, follow };
}
