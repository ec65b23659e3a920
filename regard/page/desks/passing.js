// The forward pass of the text that is typed at a desk, in a panel that opens.

import { remember, wishedAll } from "../parts/address.js";
import { makeFolding } from "./folding.js";
import { ask } from "../parts/server.js";
import { say } from "../parts/texts.js";
import { mountForward, showForward } from "../views/forward.js";

/** @import { Load, Panel } from "./folding.js" */

/**
 * The panel of a desk; its ids and its names in the address begin with `name`, and `textOf` returns the text.
 * @type {(name: string, textOf: () => string) => Panel}
 */
export function makePassing(name, textOf) {
  const says = { page: say("forward.page"), about: say("forward.about"), empty: say("forward.empty") };
  /** @type {Panel} */
  const panel = makeFolding(`${name}-pass`, says, textOf, ({ can }) => can.includes("forward"), load);
  const view = mountForward(panel.holder, `${name}-forward`, (places, isMissing) => {
    remember({ [`${name}-layers`]: places });
    if (isMissing) panel.again();
  });

  /** @type {Load} */
  async function load(model, text, signal) {
    const found = await ask("v1/forward", { model: model.name, text, opened: [...view.open] }, signal);
    return () => showForward(view, found);
  }

  return {
    ...panel,
    follow: () => {
      panel.follow();
      view.open = new Set(wishedAll(`${name}-layers`));
    },
  };
}
