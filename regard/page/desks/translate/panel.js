// The translation by one model, shown sentence by sentence as it arrives; every word can be pointed at and opened.

import { languageName } from "./choosing.js";
import { button, element, reachable, signed, walkable } from "../../parts/common.js";
import { pickOf, questionOf } from "./picks.js";
import { copy, savable, tellDone } from "../../parts/saving.js";
import { ask, listen, Refusal } from "../../parts/server.js";
import { decimal, duration, say } from "../../parts/texts.js";
import { textBetween, wordParts, wordsOf } from "./writing.js";

/** @import { Child } from "../../parts/common.js" */
/** @import { Model } from "../../parts/server.js" */
/** @import { Place, SourceSpan } from "./writing.js" */
/** @typedef {[number, number]} Link a source word and a target word that are aligned */
/** @typedef {any} Sentence of a panel: its source, and its translation once it has arrived */
/** @typedef {Record<string, (panel: Panel, ...told: any[]) => void>} Listening */
/** @typedef {Record<string, any> & { sentences: Sentence[], output: HTMLElement }} Panel */

const MOST_PATIENCE = 30; // seconds; if a busy server asks for more, the user has to retry

/**
 * A new panel; `heard` has `began` (the sentences are known), `settled`, `pointed` (at a word) and `opened` (a word).
 * @type {(model: Model, heard: Listening) => Panel}
 */
export function makePanel(model, heard) {
  const name = element("h2", {}, languageName(model.target), " ");
  name.append(element("small", {}, model.name));
  const about = { role: "group", "aria-label": say("panel.about", { model: model.name }) };
  const kind = { class: "output-text", "data-empty": say("panel.empty") };
  const output = element("p", { ...kind, dir: "auto", lang: model.target.code, ...about });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: "" });
  const doubt = element("p", { class: "doubt", hidden: "" });
  const facts = element("span", { class: "facts" });
  const said = element("span", { class: "unseen", role: "status" });
  const copying = button({ class: "plain copy unsaved" }, say("panel.copy"));
  const foot = element("p", { class: "foot" }, facts, copying);
  const root = element("section", { class: "translation" }, name, output, trouble, doubt, foot, said);
  const parts = { root, output, trouble, doubt, facts, said };
  /** @type {any} */
  const panel = { model, ...parts, heard, sentences: [], coming: [], controller: null };
  savable(root, "translation", () => {
    return { model: model.name, text: output.textContent, seconds: panel.seconds, sentences: panel.sentences };
  });
  listenToWords(panel);
  copying.addEventListener("click", async () => {
    await copy(output.textContent);
    tellDone(copying, say("saving.copied"));
  });
  showNothing(panel);
  return panel;
}

/**
 * Translate a text; an earlier request of this panel is cancelled.
 * @type {(panel: Panel, text: string) => Promise<void>}
 */
export async function translate(panel, text) {
  stop(panel);
  const { signal } = (panel.controller = new AbortController());
  panel.trouble.hidden = true;
  if (!text.trim()) {
    showNothing(panel);
    return panel.heard.settled(panel);
  }
  panel.root.setAttribute("aria-busy", true);
  const question = { text, model: panel.model.name };
  let isKnown = false; // whether the server has sent the list of sentences
  try {
    await listen("v1/translate", question, signal, {
      start: ({ texts: [spans] }) => {
        isKnown = true;
        begin(panel, spans);
      },
      sentence: (sentence) => receive(panel, sentence, signal),
      done: ({ seconds }) => (panel.seconds = seconds),
    });
    const followed = await Promise.allSettled(panel.coming);
    if (signal.aborted) return;
    finish(panel);
    for (const each of followed) if (each.status === "rejected") throw each.reason;
  } catch (error) {
    if (signal.aborted) return;
    if (!isKnown) {
      showNothing(panel); // the content belongs to the previous text
      panel.heard.settled(panel);
    }
    fail(panel, error, () => translate(panel, text));
  }
}

/**
 * Cancel the pending request, whose answer is no longer needed.
 * @type {(panel: Panel) => void}
 */
export function stop(panel) {
  panel.controller?.abort();
  clearTimeout(panel.again);
}

/** @type {(panel: Panel) => void} */
function showNothing(panel) {
  panel.sentences = [];
  panel.output.replaceChildren();
  panel.facts.textContent = "";
  panel.doubt.hidden = true;
  panel.root.removeAttribute("aria-busy");
}

/**
 * Set the list of sentences; earlier translations stay until the new ones arrive.
 * @type {(panel: Panel, spans: SourceSpan[]) => void}
 */
function begin(panel, spans) {
  const known = new Map(panel.sentences.map((sentence) => [sentence.source.text, sentence]));
  panel.coming = []; // requests for sentences with a person's choices
  panel.sentences = spans.map((source) => ({ tokens: [], alignment: [], ...known.get(source.text), source }));
  panel.heard.began(panel);
  showAll(panel);
}

/** @type {(panel: Panel, sentence: Sentence & { sentence: number }, signal: AbortSignal) => void} */
function receive(panel, sentence, signal) {
  const place = sentence.sentence;
  const isPicked = pickOf(panel.model.name, sentence.source.text) !== null;
  if (!isPicked) return settleSentence(panel, place, sentence);
  const coming = writeOn(panel, place, signal).catch((error) => {
    if (signal.aborted) throw error;
    settleSentence(panel, place, sentence); // the model's own translation is better than none
    throw error;
  });
  coming.catch(() => {}); // errors are reported when all others have arrived
  panel.coming.push(coming);
}

/**
 * Translate a sentence with the person's choice, unless the choice has changed in the meantime.
 * @type {(panel: Panel, place: number, signal: AbortSignal) => Promise<void>}
 */
async function writeOn(panel, place, signal) {
  const { source } = panel.sentences[place];
  const choice = () => pickOf(panel.model.name, source.text);
  const chosen = choice();
  const { translations } = await ask("v1/translate", questionOf(panel.model.name, source.text), signal);
  if (!signal.aborted && choice() === chosen) settleSentence(panel, place, { ...translations[0], source });
}

/** @type {(panel: Panel, place: number, sentence: Sentence) => void} */
function settleSentence(panel, place, { source, text, score, tokens, alignment, token_scores, unsure }) {
  panel.sentences[place] = { source, text, score, tokens, alignment, token_scores, unsure };
  const old = panel.output.querySelector(`.sentence[data-place="${place}"]`);
  old?.replaceWith(sentenceElement(panel, place));
  makeReachable(panel);
}

/** @type {(panel: Panel) => void} */
function finish(panel) {
  panel.root.removeAttribute("aria-busy");
  showFacts(panel);
  const isUnsure = showDoubt(panel);
  const told = `${languageName(panel.model.target)}: ${panel.output.textContent}`;
  panel.said.textContent = isUnsure ? `${told} ${panel.doubt.textContent}` : told;
  panel.heard.settled(panel);
}

/**
 * Translate a sentence again with its choice, and notify the listeners when it has arrived.
 * @type {(panel: Panel, place: number) => Promise<void>}
 */
export async function changeSentence(panel, place) {
  const { signal } = panel.controller;
  panel.trouble.hidden = true;
  panel.root.setAttribute("aria-busy", true);
  try {
    await writeOn(panel, place, signal);
    if (!signal.aborted) finish(panel);
  } catch (error) {
    if (!signal.aborted) fail(panel, error, () => changeSentence(panel, place));
  }
}

/**
 * Show what went wrong and how to continue; if the server asks for a short wait, retry automatically.
 * @type {(panel: Panel, error: unknown, again: () => void) => void}
 */
function fail(panel, error, again) {
  if (!(error instanceof Refusal)) throw error;
  panel.root.removeAttribute("aria-busy");
  /** @type {Child[]} */
  const parts = [error.message, " "];
  if (error.wait && error.wait <= MOST_PATIENCE) {
    parts.push(say("trouble.waiting", { seconds: error.wait }));
    panel.again = setTimeout(again, error.wait * 1000);
  } else {
    const retry = button({ class: "plain" }, say("trouble.again"));
    retry.addEventListener("click", again);
    parts.push(retry);
  }
  panel.trouble.replaceChildren(...parts);
  panel.trouble.hidden = false;
}

/**
 * State that the model is unsure of some sentences, which are marked, and what that means.
 * @type {(panel: Panel) => boolean}
 */
function showDoubt({ doubt, sentences, model }) {
  const count = sentences.filter(({ unsure }) => unsure).length;
  doubt.hidden = !count;
  if (!count) return false;
  const percent = 100 - (model.certainty?.percentile ?? 5);
  doubt.textContent = say(sentences.length > 1 ? "panel.unsure_of" : "panel.unsure", { count, percent });
  if (model.certainty) {
    const { threshold, outputs } = model.certainty;
    doubt.title = say("panel.unsure_means", { threshold: decimal(threshold, 3), count: outputs, percent });
  }
  return true;
}

/** @type {(panel: Panel) => void} */
function showFacts(panel) {
  const { sentences, seconds, model } = panel;
  const isScored = sentences.every(({ score }) => Number.isFinite(score));
  const total = sentences.reduce((sum, each) => sum + each.score, 0);
  const score = isScored ? say("panel.score", { score: signed(total) }) : say("panel.no_score");
  panel.facts.textContent = `${duration(seconds)} · ${score} · ${model.engine}`;
  panel.facts.title = say("panel.facts");
}

// Words

/** @type {(panel: Panel) => void} */
function showAll(panel) {
  const parts = panel.sentences.flatMap(({ source }, place) => {
    if (!place) return [sentenceElement(panel, place)];
    const gap = textBetween(panel.sentences[place - 1].source.end, source.start);
    return [gap || " ", sentenceElement(panel, place)];
  });
  panel.output.replaceChildren(...parts);
  makeReachable(panel);
}

/** @type {(panel: Panel, place: number) => HTMLSpanElement} */
function sentenceElement(panel, place) {
  const { text, source, unsure } = panel.sentences[place];
  /** @type {Link[]} */
  const alignment = panel.sentences[place].alignment;
  const kind = text === undefined ? "sentence waiting" : unsure ? "sentence unsure" : "sentence";
  const made = element("span", { class: kind, "data-place": place });
  made.append(...(text === undefined ? [source.text] : wordParts(text, place, "written")));
  const sources = wordsOf(source.text);
  made.querySelectorAll(".written").forEach((span, at) => {
    const from = alignment.filter(([, target]) => target === at).map(([read]) => sources[read]?.word);
    const label = from.length ? say("panel.from", { word: span.textContent, words: from.join(" ") }) : span.textContent;
    span.setAttribute("role", "button");
    span.setAttribute("aria-label", label);
  });
  return made;
}

/** @type {(panel: Panel) => HTMLElement[]} */
const words = (panel) => /** @type {HTMLElement[]} */ ([...panel.output.querySelectorAll(".written")]);

/** @type {(panel: Panel) => void} */
function makeReachable(panel) {
  const all = words(panel);
  reachable(all, all.find((each) => each === document.activeElement) ?? all[0]);
}

/** @type {(panel: Panel) => void} */
function listenToWords(panel) {
  const { output, heard } = panel;
  /** @type {(target: any) => Place | null} */
  const placeOf = (target) => {
    const found = target?.closest?.(".written");
    return found ? { sentence: Number(found.dataset.sentence), word: Number(found.dataset.word) } : null;
  };
  output.addEventListener("pointerover", (/** @type {any} */ { target }) => heard.pointed(panel, placeOf(target)));
  output.addEventListener("pointerleave", () => heard.pointed(panel, null));
  output.addEventListener("focusin", (/** @type {any} */ { target }) => heard.pointed(panel, placeOf(target)));
  output.addEventListener("focusout", () => heard.pointed(panel, null));
  output.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = placeOf(target);
    if (place && getSelection()?.isCollapsed) heard.opened(panel, place, false); // a selection is for copying
  });
  output.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    heard.opened(panel, placeOf(event.target), true);
  });
  walkable(output, ".written");
}

/**
 * The place of the first token of a word in an output; `▁` in a token is a space.
 * @type {(output: { text: string, tokens: string[] }, word: number) => number}
 */
export function tokenOfWord({ text, tokens }, word) {
  const begin = wordsOf(text)[word]?.index ?? 0;
  let at = 0;
  for (const [place, token] of tokens.entries()) {
    const piece = token.replaceAll("▁", "");
    const found = piece ? text.indexOf(piece, at) : -1; // single bytes of a character and bare spaces are not found
    if (found < 0) continue;
    at = found + piece.length;
    if (at > begin) return place;
  }
  return 0;
}
