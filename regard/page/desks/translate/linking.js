// Aligned words: pointing at a word highlights its source or target words in every translation.

import { byId, element } from "../../parts/common.js";
import { say, sayParts } from "../../parts/texts.js";
import { wordsOf } from "./writing.js";

/** @import { Child } from "../../parts/common.js" */
/** @import { Link, Panel } from "./panel.js" */
/** @import { Place } from "./writing.js" */

/**
 * Highlight a word and all words aligned to it, or none: `origin` is a panel, or null for the source text. `hint` names
 * the text that says what pointing does.
 * @type {(panels: Panel[], origin: Panel | null, place: Place | null, hint?: string) => void}
 */
export function light(panels, origin, place, hint = "links.hint") {
  document.querySelectorAll(".lit, .pointed").forEach((each) => each.classList.remove("lit", "pointed"));
  const readout = byId("link-readout");
  if (!place) return readout.replaceChildren(panels.some(({ sentences }) => sentences.length) ? say(hint) : "");
  const { sentence, word } = place;
  const read = origin ? linked(origin, sentence, word, 1, 0) : [word];
  read.forEach((each) => mark(byId("mirror"), sentence, each, "lit"));
  for (const panel of panels) {
    const written = read.flatMap((each) => linked(panel, sentence, each, 0, 1));
    written.forEach((each) => mark(panel.output, sentence, each, "lit"));
  }
  mark(origin ? origin.output : byId("mirror"), sentence, word, "pointed");
  readout.replaceChildren(...linkSentence(panels, origin, place, read));
}

/**
 * The words on one side of an alignment that are aligned to a word on the other.
 * @type {(panel: Panel, sentence: number, word: number, from: 0 | 1, to: 0 | 1) => number[]}
 */
function linked(panel, sentence, word, from, to) {
  /** @type {Link[]} */
  const alignment = panel.sentences[sentence]?.alignment ?? [];
  return alignment.filter((link) => link[from] === word).map((link) => link[to]);
}

/** @type {(holder: HTMLElement, sentence: number, word: number, kind: string) => void} */
function mark(holder, sentence, word, kind) {
  holder.querySelector(`[data-sentence="${sentence}"][data-word="${word}"]`)?.classList.add(kind);
}

/**
 * The same links, described in a sentence.
 * @type {(panels: Panel[], origin: Panel | null, place: Place, read: number[]) => Child[]}
 */
function linkSentence(panels, origin, { sentence, word }, read) {
  /** @type {(text: string | undefined, places: number[], language: string) => HTMLElement} */
  const named = (text, places, language) => {
    const all = wordsOf(text ?? "");
    const found = places.map((place) => all[place]?.word).filter(Boolean);
    return element("bdi", { lang: language }, found.join(" ") || say("links.nothing"));
  };
  const { source } = (origin ?? panels[0]).sentences[sentence] ?? {};
  if (!source) return [];
  const { model } = origin ?? panels[0];
  if (origin) {
    const own = element("b", {}, named(origin.sentences[sentence].text, [word], model.target.code));
    return sayParts("links.comes_from", { word: own, words: named(source.text, read, model.source.code) });
  }
  const becomes = panels.flatMap((panel, place) => {
    const found = [...new Set(linked(panel, sentence, word, 0, 1))];
    return [place ? " · " : "", named(panel.sentences[sentence]?.text, found, panel.model.target.code)];
  });
  const own = element("b", {}, named(source.text, [word], model.source.code));
  return sayParts("links.becomes", { word: own, words: element("span", {}, ...becomes) });
}
