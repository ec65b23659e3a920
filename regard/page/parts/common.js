// What all views use. Words become text nodes, never markup.

import { decimal, isSaid, language, say } from "./texts.js";

/** @typedef {Record<string, string | number | boolean | undefined>} Attributes */
/** @typedef {string | Node} Child */

/**
 * The element with this id, which is there; of which kind it is, whoever asks for it knows.
 * @type {(id: string) => any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * A new element with attributes, holding texts and other elements.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * A new element of a drawing, likewise.
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
 * A button that does no more than it is told to.
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export const button = (attributes, ...children) => element("button", { type: "button", ...attributes }, ...children);

/**
 * A part of a page under a heading.
 * @param {string} name
 * @param {string} title
 * @param {Child[]} children
 */
export function section(name, title, ...children) {
  const heading = element("h2", { id: `${name}-title` }, title);
  return element("section", { id: `${name}-part`, "aria-labelledby": `${name}-title` }, heading, ...children);
}

/**
 * Where in a model something was looked at: by its name in the language of the page, or as the code calls it.
 * @param {string} where
 */
export const partName = (where) => (isSaid(`places.${where}`) ? say(`places.${where}`) : element("code", {}, where));

/**
 * Text in another language inside a sentence of ours, kept from turning that sentence about.
 * @param {string} text
 * @param {string} language
 */
export const word = (text, language) => element("bdi", { lang: language }, text);

/**
 * Tokens that stand for no letters -> what they are called.
 * @type {Record<string, string>}
 */
const SYMBOLS = { "</s>": "end", "<s>": "begin", "<unk>": "unknown", "▁": "space" };

const BYTE = /^<0x([0-9A-F]{2})>$/; // a part of a letter that the vocabulary lacks

/**
 * What a token that stands for no letters is called, and nothing of others.
 * @param {string} token
 */
function symbolName(token) {
  if (Object.hasOwn(SYMBOLS, token)) return say(`tokens.${SYMBOLS[token]}`);
  const byte = BYTE.exec(token)?.[1];
  return byte === undefined ? "" : say("tokens.byte", { number: byte });
}

/**
 * A token as one says it: without the sign of a space, which only shows where a word begins.
 * @param {string} token
 */
export const spokenToken = (token) => symbolName(token) || token.replaceAll("▁", " ").trim();

/**
 * The parts of a token as one sees it: a space is a faint sign, and what stands for no letters has a name.
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
 * A token inside a sentence of ours.
 * @param {string} token
 * @param {string} spelled the language it is spelled in
 */
export const tokenWord = (token, spelled) => element("bdi", { lang: spelled }, ...tokenParts(token));

/** @param {number} value */
export const signed = (value) => decimal(value, 2).replace("-", "−");

/**
 * A probability in percent, as exactly as one reads it.
 * @param {number} probability
 */
export function percent(probability) {
  if (probability > 0 && probability < 0.001) return `<${decimal(0.1, 1)}\u202f%`;
  return `${decimal(probability * 100, probability >= 0.0995 || !probability ? 0 : 1)}\u202f%`;
}

/**
 * A group of radio buttons that look like segments; made anew only when there is something else to choose from.
 * `nameOf` says what an option is called, where that is not what it is.
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
 * What a choice among heads or steps is called: a number is itself, all of them or how they are joined has a name.
 * @param {string} value
 */
export const choiceName = (value) => (isSaid(`choices.${value}`) ? say(`choices.${value}`) : value);

/**
 * Of several things that Tab reaches as one, make this the one it leads to.
 * @param {HTMLOrSVGElement[]} things
 * @param {HTMLOrSVGElement | null} [chosen]
 */
export function reachable(things, chosen) {
  things.forEach((each) => (each.tabIndex = each === chosen ? 0 : -1));
}

/**
 * Let arrow keys, Home and End lead along the things inside of a holder.
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
