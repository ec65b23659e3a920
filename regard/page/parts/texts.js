// What pages say, in the language of whoever reads them. The tables of texts lie in the page; no other text is shown.

import { decimalIn, fill } from "./wording.js";

/** @import { Text } from "./wording.js" */

const KEPT_AS = "regard-language";

/** @typedef {Record<string, any>} Values what the gaps of a text are filled with */

/** @type {Record<string, Record<string, Text>>} */
const tables = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("page-texts")).textContent ?? "");

/** The language that was chosen before; none where the browser keeps nothing. */
function keptLanguage() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

/** The language of the page: what was chosen, or the first of the browser's that there are texts in. */
export const language =
  [keptLanguage(), ...navigator.languages]
    .map((tag) => tag?.split("-")[0])
    .find((code) => code && Object.hasOwn(tables, code)) ?? Object.keys(tables)[0];
document.documentElement.lang = language;

/**
 * A number with so many decimals, or a large one by its power of ten, as the language writes it.
 * @param {number} value
 * @param {number} digits
 */
export const decimal = (value, digits) => decimalIn(language, value, digits);

/**
 * A number as the language writes it.
 * @param {number} value
 */
export const inLanguage = (value) => value.toLocaleString(language);

/**
 * How long something took.
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds < 1) return say("time.milliseconds", { time: decimal(seconds * 1000, 0) });
  return say("time.seconds", { time: decimal(seconds, 1) });
}

/**
 * Whether there is a text under this name.
 * @param {string} key
 */
export const isSaid = (key) => Object.hasOwn(tables[language], key);

/**
 * A text in English, in which servers speak.
 * @param {string} key
 */
export const original = (key) => tables.en[key];

/**
 * The names of all texts of a group.
 * @param {string} group
 */
export const originalNames = (group) => Object.keys(tables.en).filter((key) => key.startsWith(`${group}.`));

/**
 * A text as a list of strings and of whatever its gaps are filled with; `count` chooses the form for that number.
 * @param {string} key
 * @param {Values} [values]
 */
export const sayParts = (key, values) => fill(tables[language][key], values, language);

/**
 * A text of the page.
 * @param {string} key
 * @param {Values} [values]
 */
export const say = (key, values) => sayParts(key, values).join("");

/** A choice of language, which is kept; the page begins anew in it, with what its address says. */
export function languageChoice() {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", say("language.choose"));
  choice.className = "language unsaved";
  for (const [code, table] of Object.entries(tables)) {
    const option = new Option(String(table["language.name"]), code, false, code === language);
    option.lang = code;
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    try {
      localStorage.setItem(KEPT_AS, choice.value);
    } catch {
      return; // A browser that keeps nothing goes on with its own.
    }
    location.reload();
  });
  return choice;
}
