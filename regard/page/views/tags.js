// Words with their tags above them, and the spans that the tags mark in the colours of their types.

import { element, percent } from "../parts/common.js";

/** @typedef {[string, number, number]} Span its type, its first place and the place after its last */
/** @typedef {{ words: string[], answers: string[], probabilities: number[], spans?: Span[] }} Tagged */

const DOUBTFUL = 0.8; // less probable tags are marked

/**
 * A hue computed from the name of a type alone, so that it is the same in every sentence.
 * @type {(type: string) => number}
 */
function hueOf(type) {
  let hash = 0;
  for (const letter of type) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  return (hash * 137) % 360;
}

/**
 * The words of a sentence, each below its tag; the words of a span are grouped.
 * @type {(sentence: Tagged) => HTMLSpanElement}
 */
export function taggedWords({ words, answers, probabilities, spans }) {
  const made = words.map((word, place) => {
    const title = `${answers[place]}: ${percent(probabilities[place])}`;
    const manner = probabilities[place] < DOUBTFUL ? { title, class: "doubtful" } : { title };
    return element("ruby", manner, word, element("rt", {}, answers[place]));
  });
  /** @type {(from: number, to?: number) => HTMLElement[]} */
  const parted = (from, to) => made.slice(from, to).flatMap((each) => [each, element("wbr")]);
  const line = element("span", { class: "tagged", dir: "auto" });
  let next = 0;
  for (const [type, start, end] of spans ?? []) {
    line.append(...parted(next, start));
    const span = element("span", { class: "span", title: type }, ...parted(start, end));
    span.style.setProperty("--hue", String(hueOf(type)));
    line.append(span, element("wbr"));
    next = end;
  }
  line.append(...parted(next));
  return line;
}
