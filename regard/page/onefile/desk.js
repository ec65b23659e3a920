// The desk of the one-file page: every line of the text is translated as it is typed, and one line is explained.

import { remember, wished } from "../parts/address.js";
import { button, byId, element, reachable, signed, walkable, word } from "../parts/common.js";
import { showKnowledge } from "../parts/knowing.js";
import { copy, tellDone } from "../parts/saving.js";
import { duration, say } from "../parts/texts.js";
import { languageName } from "../desks/translate/choosing.js";
import { light } from "../desks/translate/linking.js";
import {
  mountWriting,
  sentenceAtCaret,
  showSentences,
  wordParts,
  writeText,
  writtenText,
} from "../desks/translate/writing.js";
import { layOutAttention, mountAttention, showAttention } from "../views/attention.js";
import { mountTree, showTree } from "../views/tree.js";
import { mountLooking, openTabOf, showOutput } from "./looking.js";
import { Untranslatable } from "./refusing.js";

/** @import { Place, SourceSpan } from "../desks/translate/writing.js" */
/** @import { View } from "./looking.js" */
/** @import { Output, Translate } from "./translating.js" */
/** @typedef {{ source: SourceSpan, text?: string, alignment: [number, number][], output?: Output }} Line */

/** @type {Record<string, View>} */
const VIEWS = {
  attention: { mount: mountAttention, show: showAttention, layOut: layOutAttention },
  beam: { mount: mountTree, show: showTree },
};
const PAUSE = 150; // milliseconds without a key press before the text is translated
const REMEMBERED = 200; // translations that are kept

/** @type {Translate} */
let translateLine;
/** @type {any} */
const panel = { sentences: [], output: null, model: null };
/** @type {Map<string, Output | null>} */
const outputs = new Map();
/** @type {AbortController | null} */
let running = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
let chosenLine = 0; // the line that is explained

/**
 * Highlight a word and those linked to it, or none.
 * @type {(origin: any, place: Place | null) => void}
 */
const lightWord = (origin, place) => light([panel], origin, place, "onefile.hint");

/** @type {() => Line[]} */
const lines = () => panel.sentences;

/**
 * The lines of the text that are not blank; places are counted in code points.
 * @type {(text: string) => Line[]}
 */
export function linesOf(text) {
  let at = 0;
  const all = text.split("\n").map((line) => {
    const [start, length] = [at, [...line].length];
    at += length + 1;
    return { source: { start, end: start + length, text: line }, alignment: [] };
  });
  return all.filter(({ source }) => source.text.trim());
}

/** Translate the text, line by line; an earlier run is stopped. */
async function translateText() {
  clearTimeout(typing);
  running?.abort();
  const { signal } = (running = new AbortController());
  const text = writtenText();
  remember({ text: text || null });
  panel.sentences = linesOf(text);
  showSentences(lines().map(({ source }) => source));
  byId("trouble").hidden = true;
  byId("translation").setAttribute("aria-busy", true);
  const began = performance.now();
  try {
    for (const line of lines()) await fillIn(line, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Untranslatable)) throw error;
    byId("trouble").textContent = say(error.reason, error.values);
    byId("trouble").hidden = false;
  }
  if (signal.aborted) return;
  byId("translation").removeAttribute("aria-busy");
  showTranslations();
  showFigures((performance.now() - began) / 1000);
  explainLine(chosenLine);
}

/** @type {(line: Line, signal: AbortSignal) => Promise<void>} */
async function fillIn(line, signal) {
  const { text } = line.source;
  const output = outputs.has(text) ? outputs.get(text) : await translateLine(text, signal);
  signal.throwIfAborted();
  outputs.delete(text);
  outputs.set(text, output ?? null); // the last in the order of use
  if (outputs.size > REMEMBERED) outputs.delete([...outputs.keys()][0]);
  if (output) Object.assign(line, { text: output.text, alignment: output.alignment, output });
}

function showTranslations() {
  const parts = lines().flatMap(({ text, source }, place) => {
    const kind = text === undefined ? "sentence waiting" : "sentence";
    const shown = element("span", { class: kind, "data-place": place });
    shown.append(...(text === undefined ? [source.text] : wordParts(text, place, "written")));
    return place ? ["\n", shown] : [shown];
  });
  panel.output.replaceChildren(...parts);
  const written = [...panel.output.querySelectorAll(".written")];
  written.forEach((each) => each.setAttribute("role", "button"));
  reachable(written, written[0]);
  lightWord(null, null);
}

/** @type {(seconds: number) => void} */
function showFigures(seconds) {
  const scores = lines().flatMap(({ output }) => (output ? [output.score] : []));
  const total = scores.reduce((sum, score) => sum + score, 0);
  const score = say("panel.score", { score: signed(total) });
  byId("facts").textContent = scores.length ? `${duration(seconds)} · ${score} · onnxruntime int8` : "";
}

/**
 * Explain a line, or the nearest one that is translated.
 * @type {(place: number) => void}
 */
function explainLine(place) {
  const ready = [...lines().keys()].filter((each) => lines()[each].output);
  byId("why").hidden = !ready.length;
  if (!ready.length) return;
  chosenLine = ready.includes(place) ? place : ready.findLast((each) => each < place) ?? ready[0];
  const { source, output } = lines()[chosenLine];
  if (!output) return;
  const { model } = panel;
  const texts = [word(source.text.trim(), model.source.code), " → ", word(output.text, model.target.code)];
  byId("subject").replaceChildren(...texts);
  panel.output.querySelectorAll(".sentence").forEach((/** @type {HTMLElement} */ each, /** @type {number} */ at) => {
    each.classList.toggle("explained", ready.length > 1 && at === chosenLine);
  });
  showOutput(output.explain);
}

/** @type {(target: any) => Place | null} */
function placeOfWord(target) {
  const found = target?.closest?.(".written");
  return found ? { sentence: Number(found.dataset.sentence), word: Number(found.dataset.word) } : null;
}

function listenToOutput() {
  const { output } = panel;
  for (const event of ["pointerover", "focusin"]) {
    output.addEventListener(event, (/** @type {any} */ { target }) => lightWord(panel, placeOfWord(target)));
  }
  for (const event of ["pointerleave", "focusout"]) output.addEventListener(event, () => lightWord(null, null));
  output.addEventListener("click", (/** @type {any} */ { target }) => {
    const place = placeOfWord(target);
    if (place && getSelection()?.isCollapsed) explainLine(place.sentence);
  });
  walkable(output, ".written");
}

/** @type {(model: any) => void} */
function mountOutput(model) {
  panel.model = model;
  const name = element("h2", {}, languageName(model.target), " ", element("small", {}, model.name));
  const about = { role: "group", "aria-label": say("panel.about", { model: model.name }), dir: "auto" };
  const kind = { id: "output", class: "output-text", "data-empty": say("panel.empty"), lang: model.target.code };
  panel.output = element("p", { ...kind, ...about });
  const copying = button({ class: "plain copy" }, say("panel.copy"));
  copying.addEventListener("click", async () => {
    await copy(panel.output.textContent);
    tellDone(copying, say("saving.copied"));
  });
  const foot = element("p", { class: "foot" }, element("span", { id: "facts", class: "facts" }), copying);
  const root = element("section", { id: "translation", class: "translation" }, name, panel.output, foot);
  byId("translations").append(root);
  listenToOutput();
}

/**
 * Mount the desk of a model, and translate the text that the address names.
 * @type {(model: any, translate: Translate) => void}
 */
export function mountDesk(model, translate) {
  translateLine = translate;
  byId("source-title").textContent = languageName(model.source);
  byId("text").lang = model.source.code;
  mountOutput(model);
  mountLooking(VIEWS);
  /** @type {(text: string) => void} */
  const take = (text) => {
    writeText(text);
    translateText();
  };
  showKnowledge(byId("knowing"), [model], take);
  mountWriting({}, {
    typed: () => {
      clearTimeout(typing);
      chosenLine = sentenceAtCaret(linesOf(writtenText()).map(({ source }) => source));
      typing = setTimeout(translateText, PAUSE);
    },
    pointed: (place) => lightWord(null, place),
    entered: ({ sentence }) => sentence !== chosenLine && explainLine(sentence),
  });
  const follow = () => {
    openTabOf(wished().view);
    take(wished().text ?? model.examples[0] ?? "");
  };
  addEventListener("hashchange", follow);
  follow();
}
