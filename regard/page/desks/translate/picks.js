// What a person chose in place of what the model finds best: tokens that an output begins with, or a whole output. A
// choice belongs to a model and a sentence, wherever that sentence stands in the text.

import { remember, wishedAll } from "../../parts/address.js";

/** @typedef {string | string[]} Choice a whole output, or the tokens that it begins with */

/** @type {Map<string, Choice>} */
let picks = new Map();

/** @type {(model: string, sentence: string) => string} */
const nameFor = (model, sentence) => JSON.stringify([model, sentence]);

/** @type {(values: unknown[]) => boolean} */
const isText = (values) => values.every((value) => typeof value === "string");

/** Take the choices from the address. */
export function readPicks() {
  picks = new Map();
  for (const written of wishedAll("pick")) {
    try {
      const [model, sentence, choice] = JSON.parse(written);
      if (isText([choice].flat())) picks.set(nameFor(model, sentence), choice);
    } catch {
      // Not one of ours: someone has changed the address by hand.
    }
  }
}

/** @type {(model: string, sentence: string) => Choice | null} */
export const pickOf = (model, sentence) => picks.get(nameFor(model, sentence)) ?? null;

/**
 * Choose tokens to begin with, a whole output as text, or with null what the model finds best.
 * @type {(model: string, sentence: string, choice: Choice | null) => void}
 */
export function setPick(model, sentence, choice) {
  if (choice === null) picks.delete(nameFor(model, sentence));
  else picks.set(nameFor(model, sentence), choice);
  remember({ pick: [...picks].map(([name, chosen]) => JSON.stringify([...JSON.parse(name), chosen])) });
}

/**
 * What to ask the server for a sentence, as was chosen for it.
 * @type {(model: string, sentence: string) => Record<string, unknown>}
 */
export function questionOf(model, sentence) {
  const choice = pickOf(model, sentence);
  if (choice === null) return { model, text: sentence, split_sentences: false };
  return { model, text: sentence, [Array.isArray(choice) ? "before" : "forced"]: choice };
}
