// Texts with gaps, and numbers in the notation of a given language.

/** @typedef {string | Record<string, string>} Text one text, or a form for each plural category */

export const HOLE = /\{(\w+)\}/; // where a value goes
const LARGE = 1e6; // from here on, numbers are written with a power of ten

/** @type {Map<string, Intl.PluralRules>} */
const plurals = new Map();
/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/**
 * The cached value for a key, made if it is missing.
 * @template Kind
 * @param {Map<string, Kind>} made
 * @param {string} key
 * @param {() => Kind} make
 * @returns {Kind}
 */
function cached(made, key, make) {
  const found = made.get(key) ?? make();
  made.set(key, found);
  return found;
}

/**
 * A number with this many decimals; large ones with a power of ten.
 * @param {string} language
 * @param {number} value
 * @param {number} digits
 */
export function decimalIn(language, value, digits) {
  if (Math.abs(value) >= LARGE) {
    return value.toLocaleString(language, { notation: "scientific", maximumFractionDigits: 1 });
  }
  const exactly = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = cached(formats, `${language} ${digits}`, () => {
    return new Intl.NumberFormat(language, { ...exactly, useGrouping: false, signDisplay: "negative" });
  });
  return format.format(value);
}

/**
 * A text as a list of strings and of the values in its gaps; `count` selects the plural form.
 * @param {Text} text
 * @param {Record<string, any>} [values]
 * @param {string} [language]
 * @returns {any[]}
 */
export function fill(text, values = {}, language = "en") {
  const rules = cached(plurals, language, () => new Intl.PluralRules(language));
  const form = typeof text === "string" ? text : text[rules.select(values.count)] ?? text.other;
  /** @param {string} name */
  const filled = (name) => {
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(language) : value;
  };
  return form.split(HOLE).map((part, place) => (place % 2 ? filled(part) : part)).filter((part) => part !== "");
}
