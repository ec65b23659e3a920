// The attention of a desk's model to the words of the text that is typed there, in a panel that opens. It can be
// edited, and the model then runs again.

import { wished } from "../parts/address.js";
import { makeHome } from "./attending/room.js";
import { askEdited } from "./editing.js";
import { makeFolding } from "./folding.js";
import { ask } from "../parts/server.js";
import { say } from "../parts/texts.js";

/** @import { Load, Panel } from "./folding.js" */

const WRITTEN = 40; // tokens that a language model writes with and without edits
const READ = ["text", "tokens", "prompt"]; // by models with attention among words

/** The units that the address asks for. */
export const modeWanted = () => (wished().mode === "tokens" ? "tokens" : "words");

/**
 * The panel of a desk; its ids and its name in the address begin with `name`, and `textOf` returns the text.
 * @type {(name: string, textOf: () => string) => Panel}
 */
export function makeAttending(name, textOf) {
  /** @type {(model: any) => boolean} */
  const offers = ({ can, reads }) => can.includes("look") && READ.includes(reads);
  const says = { page: say("attending.page"), about: say("attending.about"), empty: say("attending.empty") };
  const panel = makeFolding(`${name}-attention`, says, textOf, offers, load);
  const show = makeHome(panel.holder, panel.again);

  /** @type {Load} */
  async function load(model, text, signal) {
    const subject = { model: model.name, text };
    const written = model.can.includes("generate") ? { write: WRITTEN } : {};
    const seen = await askEdited(subject, async (edits) => {
      const more = edits.length ? { edits, ...written } : {};
      const found = await ask("v1/look", { model: model.name, input: text, mode: modeWanted(), ...more }, signal);
      return { ...found.looks, checksum: found.checksum };
    });
    return () => show(seen, subject);
  }

  return panel;
}
