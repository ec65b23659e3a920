// What all views use. Words become text nodes, never markup.

import { decimal, isSaid, language, say } from "./texts.js";

export const byId = (id) => document.getElementById(id);

/** A new element with attributes, holding texts and other elements. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same of a drawing. */
export function drawing(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A button that does no more than it is told to. */
export const button = (attributes, ...children) => element("button", { type: "button", ...attributes }, ...children);

/** A part of a page under a heading. */
export function section(name, title, ...children) {
  const heading = element("h2", { id: `${name}-title` }, title);
  return element("section", { id: `${name}-part`, "aria-labelledby": `${name}-title` }, heading, ...children);
}

/** Where in a model something was looked at: by its name in the language of the page, or as the code calls it. */
export const partName = (where) => (isSaid(`places.${where}`) ? say(`places.${where}`) : element("code", {}, where));

/** Text in another language inside a sentence of ours, kept from turning that sentence about. */
export const word = (text, language) => element("bdi", { lang: language }, text);

// Tokens that stand for no letters -> what they are called.
const SYMBOLS = { "</s>": "end", "<s>": "begin", "<unk>": "unknown", "▁": "space" };

const BYTE = /^<0x([0-9A-F]{2})>$/; // a part of a letter that the vocabulary lacks

/** What a token that stands for no letters is called, and nothing of others. */
function symbolName(token) {
  if (Object.hasOwn(SYMBOLS, token)) return say(`tokens.${SYMBOLS[token]}`);
  const byte = BYTE.exec(token)?.[1];
  return byte === undefined ? "" : say("tokens.byte", { number: byte });
}

/** A token as one says it: without the sign of a space, which only shows where a word begins. */
export const spokenToken = (token) => symbolName(token) || token.replaceAll("▁", " ").trim();

/** The parts of a token as one sees it: a space is a faint sign, and what stands for no letters has a name. */
export function tokenParts(token) {
  const name = symbolName(token);
  if (name) return [element("i", { class: "symbol", lang: language }, name)];
  const pieces = token.split("▁");
  const space = () => element("span", { class: "space", "aria-hidden": true }, "␣");
  return pieces.flatMap((piece, place) => (place ? [space(), piece] : [piece])).filter((part) => part !== "");
}

/** A token inside a sentence of ours. */
export const tokenWord = (token, spelled) => element("bdi", { lang: spelled }, ...tokenParts(token));

export const signed = (value) => decimal(value, 2).replace("-", "−");

/** A probability in percent, as exactly as one reads it. */
export function percent(probability) {
  if (probability > 0 && probability < 0.001) return `<${decimal(0.1, 1)}\u202f%`;
  return `${decimal(probability * 100, probability >= 0.0995 || !probability ? 0 : 1)}\u202f%`;
}

/**
 * A group of radio buttons that look like segments; made anew only when there is something else to choose from.
 * `nameOf` says what an option is called, where that is not what it is.
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

/** What a choice among heads or steps is called: a number is itself, all of them or how they are joined has a name. */
export const choiceName = (value) => (isSaid(`choices.${value}`) ? say(`choices.${value}`) : value);

/** Of several things that Tab reaches as one, make this the one it leads to. */
export function reachable(things, chosen) {
  things.forEach((each) => (each.tabIndex = each === chosen ? 0 : -1));
}

/** Let arrow keys, Home and End lead along the things inside of a holder. */
export function walkable(holder, selector) {
  holder.addEventListener("keydown", (event) => {
    const things = [...holder.querySelectorAll(selector)];
    const from = things.indexOf(event.target);
    const onward = getComputedStyle(holder).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: from + onward, ArrowLeft: from - onward, Home: 0, End: things.length - 1 }[event.key];
    const to = from < 0 ? undefined : things[step];
    if (!to) return;
    event.preventDefault();
    reachable(things, to);
    to.focus();
  });
}
