// The values of a step that a reader may change: their fields, and the lines of code that show them.

import { element } from "../parts/common.js";
import { inLanguage, language, say } from "../parts/texts.js";

/**
 * @typedef {object} StepValue
 * @property {string} name
 * @property {string} label
 * @property {number | string} default
 * @property {number | string} value
 * @property {string[]} [choices]
 * @property {number} [least]
 * @property {number} [most]
 * @property {boolean} [whole]
 */

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

/**
 * The number in a text, with a decimal point or comma; null if there is none.
 * @param {string} text
 */
export function readNumber(text) {
  const bare = text.trim().replace("−", "-").replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare) ? Number(bare) : null;
}

/**
 * A value as Python writes it.
 * @param {StepValue} about
 * @param {number | string} value
 */
export function literal({ whole, choices }, value) {
  if (choices) return JSON.stringify(value);
  return whole || !Number.isInteger(value) ? String(value) : `${value}.0`;
}

/**
 * What is wrong with the text of a number's field; nothing if it is right.
 * @param {StepValue} about
 * @param {string} text
 */
export function wrongNumber({ least = 0, most = 0, whole }, text) {
  const value = readNumber(text);
  const isFine = value !== null && value >= least && value <= most && (!whole || Number.isInteger(value));
  const bounds = { least: inLanguage(least), most: inLanguage(most) };
  return isFine ? "" : say(whole ? "course.not_whole" : "course.not_number", bounds);
}

/**
 * A number as a reader of this language writes it.
 * @param {number | string} value
 */
const spelled = (value) => (language === "en" ? String(value) : String(value).replace(".", ","));

/**
 * The field of a value, with its label; `changed` is called whenever it changes.
 * @param {string} id
 * @param {StepValue} about
 * @param {() => void} changed
 * @returns {{ row: HTMLElement, field: Field }}
 */
export function valueField(id, about, changed) {
  const label = element("label", { for: id }, about.label);
  if (about.choices) {
    const field = element("select", { id }, ...about.choices.map((choice) => new Option(choice, choice)));
    field.value = String(about.value);
    field.addEventListener("change", changed);
    return { row: element("p", {}, label, field), field };
  }
  const hint = element("small", { id: `${id}-hint` }, boundsOf(about));
  const attributes = { id, inputmode: "decimal", autocomplete: "off", "aria-describedby": hint.id };
  const field = element("input", { ...attributes, value: spelled(about.value) });
  field.addEventListener("input", () => {
    const wrong = wrongNumber(about, field.value);
    field.setCustomValidity(wrong);
    field.setAttribute("aria-invalid", String(Boolean(wrong)));
    hint.textContent = wrong || boundsOf(about);
    hint.className = wrong ? "wrong" : "";
    changed();
  });
  return { row: element("p", {}, label, field, hint), field };
}

/** @param {StepValue} about */
const boundsOf = ({ least = 0, most = 0 }) => {
  return say("course.bounds", { least: inLanguage(least), most: inLanguage(most) });
};

/**
 * The value in a field; null while it is none.
 * @param {StepValue} about
 * @param {Field} field
 */
export function valueIn(about, field) {
  if (about.choices) return field.value;
  return wrongNumber(about, field.value) ? null : readNumber(field.value);
}
