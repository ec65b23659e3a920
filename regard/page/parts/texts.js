// The texts of the page in the reader's language. The tables of texts are embedded in the page; no other text is shown.

import { decimalIn, fill } from "./wording.js";

/** @import { Text } from "./wording.js" */

const KEPT_AS = "regard-language";

/** @typedef {Record<string, any>} Values the values for the gaps of a text */

/** @type {Record<string, Record<string, Text>>} */
const tables = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("page-texts")).textContent ?? "");

/** The language that was chosen before, if the browser has stored it. */
function keptLanguage() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

/** The language of the page: the server's if it names one, the chosen one, or the first of the browser's with texts. */
export const language =
  [document.documentElement.dataset.language, keptLanguage(), ...navigator.languages]
    .map((tag) => tag?.split("-")[0])
    .find((code) => code && Object.hasOwn(tables, code)) ?? Object.keys(tables)[0];
document.documentElement.lang = language;

/**
 * A number in the notation of the language, with this many decimals; large ones with a power of ten.
 * @param {number} value
 * @param {number} digits
 */
export const decimal = (value, digits) => decimalIn(language, value, digits);

/**
 * A number in the notation of the language.
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
 * A time or a length of a sound in seconds, to a hundredth.
 * @param {number} seconds
 */
export const soundSeconds = (seconds) => decimal(seconds, 2);

/**
 * Whether there is a text under this name.
 * @param {string} key
 */
export const isSaid = (key) => Object.hasOwn(tables[language], key);

/**
 * A text in English, the language of the server.
 * @param {string} key
 */
export const original = (key) => tables.en[key];

/**
 * The names of all texts of a group.
 * @param {string} group
 */
export const originalNames = (group) => Object.keys(tables.en).filter((key) => key.startsWith(`${group}.`));

/**
 * A text as a list of strings and of the values in its gaps; `count` selects the plural form.
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

/**
 * Store the chosen language; without storage, the browser's own stays.
 * @param {string} chosen
 */
async function keepInBrowser(chosen) {
  try {
    localStorage.setItem(KEPT_AS, chosen);
    return true;
  } catch {
    return false;
  }
}

/**
 * A select element for the language, which is stored; the page reloads in it with the state of the address.
 * @param {(chosen: string) => Promise<boolean>} [keep] stores it and returns whether it could
 */
export function languageChoice(keep = keepInBrowser) {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", say("language.choose"));
  choice.className = "language unsaved";
  for (const [code, table] of Object.entries(tables)) {
    const option = new Option(String(table["language.name"]), code, false, code === language);
    option.lang = code;
    choice.append(option);
  }
  choice.addEventListener("change", async () => {
    if (await keep(choice.value)) location.reload();
  });
  return choice;
}
