// What all views share. Words become text nodes, never markup.

import { decimal, isSaid, language, say } from "./texts.js";

/** @typedef {Record<string, string | number | boolean | undefined>} Attributes */
/** @typedef {string | Node} Child */

/**
 * The element with this id, which must exist; the caller knows its type.
 * @type {(id: string) => any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * A new element with attributes and children (texts or elements).
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * The same for an SVG element.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function drawing(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/**
 * @template {Element} Kind
 * @param {Kind} made
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/**
 * A button that does not submit a form.
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export const button = (attributes, ...children) => element("button", { type: "button", ...attributes }, ...children);

/**
 * A section of a page with a heading.
 * @param {string} name
 * @param {string} title
 * @param {Child[]} children
 */
export function section(name, title, ...children) {
  const heading = element("h2", { id: `${name}-title` }, title);
  return element("section", { id: `${name}-part`, "aria-labelledby": `${name}-title` }, heading, ...children);
}

/**
 * The name of a place of attention in a model, in the language of the page, or else its name in the code.
 * @param {string} where
 */
export const partName = (where) => (isSaid(`places.${where}`) ? say(`places.${where}`) : element("code", {}, where));

/**
 * Text in another language inside a sentence of the page, isolated so that it cannot change the sentence's direction.
 * @param {string} text
 * @param {string} language
 */
export const word = (text, language) => element("bdi", { lang: language }, text);

/**
 * Special tokens -> the keys of their names.
 * @type {Record<string, string>}
 */
const SYMBOLS = { "</s>": "end", "<s>": "begin", "<unk>": "unknown", "▁": "space" };

const BYTE = /^<0x([0-9A-F]{2})>$/; // one byte of a character that the vocabulary lacks

/**
 * The name of a special token; nothing for other tokens.
 * @param {string} token
 */
function symbolName(token) {
  if (Object.hasOwn(SYMBOLS, token)) return say(`tokens.${SYMBOLS[token]}`);
  const byte = BYTE.exec(token)?.[1];
  return byte === undefined ? "" : say("tokens.byte", { number: byte });
}

/**
 * A token as plain text: without the space sign, which only marks the start of a word.
 * @param {string} token
 */
export const spokenToken = (token) => symbolName(token) || token.replaceAll("▁", " ").trim();

/**
 * A token as displayed parts: a space is a faint sign, and special tokens are named.
 * @param {string} token
 */
export function tokenParts(token) {
  const name = symbolName(token);
  if (name) return [element("i", { class: "symbol", lang: language }, name)];
  const pieces = token.split("▁");
  const space = () => element("span", { class: "space", "aria-hidden": true }, "␣");
  return pieces.flatMap((piece, place) => (place ? [space(), piece] : [piece])).filter((part) => part !== "");
}

/**
 * A token inside a sentence of the page.
 * @param {string} token
 * @param {string} spelled the language it is spelled in
 */
export const tokenWord = (token, spelled) => element("bdi", { lang: spelled }, ...tokenParts(token));

/** @param {number} value */
export const signed = (value) => decimal(value, 2).replace("-", "−");

/**
 * A probability in percent, with as many digits as are useful.
 * @param {number} probability
 */
export function percent(probability) {
  if (probability > 0 && probability < 0.001) return `<${decimal(0.1, 1)}\u202f%`;
  return `${decimal(probability * 100, probability >= 0.0995 || !probability ? 0 : 1)}\u202f%`;
}

/**
 * Fill a group of radio buttons that look like segments; it is rebuilt only if the options change.
 * `nameOf` gives the label of an option if it differs from the value.
 * @param {HTMLFieldSetElement} group
 * @param {string[]} options
 * @param {string | number | null} chosen
 * @param {(value: string) => Child} nameOf
 */
export function offer(group, options, chosen, nameOf = String) {
  group.hidden = options.length < 2;
  if (group.dataset.options !== String(options)) {
    group.dataset.options = String(options);
    group.querySelectorAll("label").forEach((label) => label.remove());
    for (const value of options) {
      const radio = element("input", { type: "radio", name: group.id, value });
      group.append(element("label", {}, radio, element("span", {}, nameOf(value))));
    }
  }
  group.querySelectorAll("input").forEach((radio) => (radio.checked = radio.value === String(chosen)));
}

/**
 * The label of a choice among heads or steps: numbers stay as they are, "all", "mean" and "max" have names.
 * @param {string} value
 */
export const choiceName = (value) => (isSaid(`choices.${value}`) ? say(`choices.${value}`) : value);

/**
 * In a group that Tab reaches as one stop, make this element the one that gets the focus.
 * @param {HTMLOrSVGElement[]} things
 * @param {HTMLOrSVGElement | null} [chosen]
 */
export function reachable(things, chosen) {
  things.forEach((each) => (each.tabIndex = each === chosen ? 0 : -1));
}

/**
 * Let arrow keys, Home and End move the focus between the elements inside `holder`.
 * @param {HTMLElement} holder
 * @param {string} selector
 */
export function walkable(holder, selector) {
  holder.addEventListener("keydown", (event) => {
    const things = /** @type {HTMLElement[]} */ ([...holder.querySelectorAll(selector)]);
    const from = things.indexOf(/** @type {HTMLElement} */ (event.target));
    const onward = getComputedStyle(holder).direction === "rtl" ? -1 : 1;
    const steps = { ArrowRight: from + onward, ArrowLeft: from - onward, Home: 0, End: things.length - 1 };
    const to = from < 0 ? undefined : things[/** @type {Record<string, number>} */ (steps)[event.key]];
    if (!to) return;
    event.preventDefault();
    reachable(things, to);
    to.focus();
  });
}
