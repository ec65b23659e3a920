// The source text. A mirror of it lies under the field; in the mirror, single words can be highlighted and located.

import { byId, element } from "../../parts/common.js";
import { say } from "../../parts/texts.js";

/** @import { Child } from "../../parts/common.js" */
/** @typedef {{ start: number, end: number, text: string }} SourceSpan a sentence of the text, in code points */
/** @typedef {{ sentence: number, word: number }} Place a word of a sentence */
/** @typedef {{ typed: () => void, pointed: (place: Place | null) => void, entered: (place: Place) => void }} Typing */

const WALKING = /^(Arrow|Home|End|Page)/; // keys that move the caret

let longest = Infinity;

/**
 * The words of a sentence as alignments count them: separated by spaces.
 * @type {(text: string) => { word: string, index: number }[]}
 */
export const wordsOf = (text) => [...text.matchAll(/[^ ]+/g)].map(({ 0: word, index }) => ({ word, index }));

/** @type {() => string} */
export const writtenText = () => byId("text").value;

/**
 * The text between two places, counted in code points.
 * @type {(from: number, to: number) => string}
 */
export const textBetween = (from, to) => [...writtenText()].slice(from, to).join("");

/** @type {(text: string) => void} */
export function writeText(text) {
  byId("text").value = text;
  showPlain();
}

/** Fill the mirror with a text whose sentences are not known yet. */
export function showPlain() {
  const text = writtenText();
  byId("mirror").replaceChildren(`${text}\n`); // so that an empty last line has its height too
  byId("clear").hidden = !text;
  const length = [...text].length;
  byId("count").textContent = length ? say("text.count", { count: length }) : "";
  byId("count").classList.toggle("too-many", length > longest);
}

/**
 * Fill the mirror with an element for each word of each sentence; places are counted in code points.
 * @type {(sentences: SourceSpan[]) => void}
 */
export function showSentences(sentences) {
  const characters = [...writtenText()];
  /** @type {Child[]} */
  const parts = [];
  let at = 0;
  sentences.forEach(({ start, end, text }, sentence) => {
    parts.push(characters.slice(at, start).join(""), ...wordParts(text, sentence, "mirrored"));
    at = end;
  });
  byId("mirror").replaceChildren(...parts, `${characters.slice(at).join("")}\n`);
}

/**
 * A sentence as texts and, for each of its words, an element that holds its place.
 * @type {(text: string, sentence: number, kind: string) => Child[]}
 */
export function wordParts(text, sentence, kind) {
  /** @type {Child[]} */
  const parts = [];
  let at = 0;
  wordsOf(text).forEach(({ word, index }, place) => {
    parts.push(text.slice(at, index));
    parts.push(element("span", { class: kind, "data-sentence": sentence, "data-word": place }, word));
    at = index + word.length;
  });
  return [...parts, text.slice(at)];
}

/** @type {(found: any) => Place | null} */
const placeIn = (found) => found && { sentence: Number(found.dataset.sentence), word: Number(found.dataset.word) };

/**
 * The word of the mirror under the pointer.
 * @type {(event: MouseEvent) => Place | null}
 */
function wordUnder({ clientX, clientY }) {
  return placeIn(document.elementsFromPoint(clientX, clientY).find((each) => each.matches(".mirrored")));
}

/** The word of the mirror at or just before the caret. */
function wordAtCaret() {
  let left = byId("text").selectionStart;
  for (const part of byId("mirror").childNodes) {
    const length = part.textContent.length;
    if (left <= length && part.nodeType === Node.ELEMENT_NODE) return placeIn(part);
    if (left < length) return null;
    left -= length;
  }
  return null;
}

/**
 * The sentence at or just before the caret; places are counted in code points.
 * @type {(sentences: SourceSpan[]) => number}
 */
export function sentenceAtCaret(sentences) {
  const caret = [...writtenText().slice(0, byId("text").selectionStart)].length;
  return Math.max(sentences.findLastIndex(({ start }) => start < caret), 0);
}

/**
 * Listen to the field: `typed` is called when the text changes, `pointed` with the word, or null, at the pointer or the
 * caret, `entered` with the word at which the caret was placed.
 * @type {(limits: Record<string, number>, heard: Typing) => void}
 */
export function mountWriting({ characters }, { typed, pointed, entered }) {
  longest = characters ?? Infinity;
  const field = byId("text");
  field.addEventListener("input", () => {
    showPlain();
    typed();
  });
  field.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => pointed(wordUnder(event)));
  field.addEventListener("pointerleave", () => pointed(null));
  field.addEventListener("blur", () => pointed(null));
  const caretMoved = () => {
    const word = wordAtCaret();
    pointed(word);
    if (word) entered(word);
  };
  field.addEventListener("keyup", (/** @type {KeyboardEvent} */ { key }) => WALKING.test(key) && caretMoved());
  field.addEventListener("click", caretMoved);
  byId("clear").addEventListener("click", () => {
    writeText("");
    field.focus();
    typed();
  });
}
