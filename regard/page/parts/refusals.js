// Translates the server's English texts to the language of the page: refusals, and descriptions of regard's own models.
// The English texts of the page are the patterns; a sentence that matches none of them stays as it is.

import { inLanguage, language, original, originalNames, say } from "./texts.js";
import { HOLE } from "./wording.js";

const GROUPED = /^\d{1,3}(,\d{3})+$/; // a large number in English notation
const NUMBERED = /^Text (\d+): (.*)$/su;

/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * A pattern that matches a text with any values in its gaps.
 * @param {string} text
 */
export function patternOf(text) {
  const parts = text.split(HOLE);
  const names = parts.filter((_, place) => place % 2);
  const source = parts.map((part, place) => (place % 2 ? "(.*?)" : escaped(part))).join("");
  return { names, pattern: new RegExp(`^${source}$`, "isu") };
}

/** @type {Map<string, { name: string, names: string[], pattern: RegExp }[]>} */
const patterns = new Map();

/** @param {string} group */
function patternsOf(group) {
  const made =
    patterns.get(group) ?? originalNames(group).map((name) => ({ name, ...patternOf(String(original(name))) }));
  patterns.set(group, made);
  return made;
}

/** @param {string} value */
const regrouped = (value) => (GROUPED.test(value) ? inLanguage(Number(value.replaceAll(",", ""))) : value);

/**
 * A sentence of the server in the language of the page, if this group has a text for it.
 * @param {string} sentence
 * @returns {string}
 */
export function inPageLanguage(sentence, group = "refusals") {
  if (!sentence || language === "en") return sentence;
  const numbered = NUMBERED.exec(sentence);
  if (numbered) return say("refusals.text", { number: numbered[1], sentence: inPageLanguage(numbered[2], group) });
  for (const { name, names, pattern } of patternsOf(group)) {
    const found = pattern.exec(sentence);
    if (found) return say(name, Object.fromEntries(names.map((each, place) => [each, regrouped(found[place + 1])])));
  }
  return sentence;
}

/**
 * A remark on how a picture was changed to fit the model, in the language of the page.
 * @param {string} remark
 * @returns {string}
 */
export function remarkInPageLanguage(remark) {
  const changes = patternOf(String(original("fitting.remark"))).pattern.exec(remark)?.[1];
  if (changes === undefined) return remark;
  const each = changes.split(/, (?!because)/).map((change) => inPageLanguage(change, "fittings"));
  return say("fitting.remark", { changes: each.join(", ") });
}
