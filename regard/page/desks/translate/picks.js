// What a person chose instead of the model's best output: the first tokens of an output, or a whole output. A
// choice belongs to a model and a sentence, wherever that sentence occurs in the text.

import { remember, wishedAll } from "../../parts/address.js";

/** @typedef {string | string[]} Choice a whole output, or its first tokens */

/** @type {Map<string, Choice>} */
let picks = new Map();

/** @type {(model: string, sentence: string) => string} */
const nameFor = (model, sentence) => JSON.stringify([model, sentence]);

/** @type {(values: unknown[]) => boolean} */
const isText = (values) => values.every((value) => typeof value === "string");

/** Read the choices from the address. */
export function readPicks() {
  picks = new Map();
  for (const written of wishedAll("pick")) {
    try {
      const [model, sentence, choice] = JSON.parse(written);
      if (isText([choice].flat())) picks.set(nameFor(model, sentence), choice);
    } catch {
      // Not written by this page: someone edited the address by hand.
    }
  }
}

/** @type {(model: string, sentence: string) => Choice | null} */
export const pickOf = (model, sentence) => picks.get(nameFor(model, sentence)) ?? null;

/**
 * Choose the first tokens, a whole output as text, or, with null, the model's best output.
 * @type {(model: string, sentence: string, choice: Choice | null) => void}
 */
export function setPick(model, sentence, choice) {
  if (choice === null) picks.delete(nameFor(model, sentence));
  else picks.set(nameFor(model, sentence), choice);
  remember({ pick: [...picks].map(([name, chosen]) => JSON.stringify([...JSON.parse(name), chosen])) });
}

/**
 * The fields of a request that express the choice for a sentence.
 * @type {(model: string, sentence: string) => Record<string, unknown>}
 */
export function questionOf(model, sentence) {
  const choice = pickOf(model, sentence);
  if (choice === null) return { model, text: sentence, split_sentences: false };
  return { model, text: sentence, [Array.isArray(choice) ? "before" : "forced"]: choice };
}
