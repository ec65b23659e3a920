// Translating: translations appear as the user types; words can be pointed at, replaced and explained.

import { remember, wished } from "../parts/address.js";
import { chosenModels, choosePair, mountChoosing, sideNames } from "./translate/choosing.js";
import { byId, element, word } from "../parts/common.js";
import { explain, mountExplaining, openView, viewOfWord } from "./translate/explaining.js";
import { showKnowledge } from "../parts/knowing.js";
import { light } from "./translate/linking.js";
import { focusPlace } from "../views/next.js";
import { changeSentence, makePanel, stop, tokenOfWord, translate } from "./translate/panel.js";
import { pickOf, readPicks, setPick } from "./translate/picks.js";
import { say } from "../parts/texts.js";
import { mountWriting, sentenceAtCaret, showSentences, writeText, writtenText } from "./translate/writing.js";

/** @import { Model } from "../parts/server.js" */
/** @import { Panel, Sentence } from "./translate/panel.js" */
/** @import { Choice } from "./translate/picks.js" */
/** @import { Place } from "./translate/writing.js" */

const PAUSE = 250; // milliseconds without a key press before the text is translated

/** @type {Panel[]} */
let panels = [];
/** @type {number | undefined} */
let waiting; // timer for a pause in the typing
let isTyping = false; // if so, the sentence at the caret is explained
const subject = { model: "", sentence: 0 }; // the model and the sentence that are explained

const subjectPanel = () => panels.find(({ model }) => model.name === subject.model) ?? panels[0];

// Translating

function typed() {
  isTyping = true;
  byId("views").setAttribute("aria-busy", true); // its content belongs to the previous text
  clearTimeout(waiting);
  waiting = setTimeout(translateAll, PAUSE);
}

/** Translate the text again. */
export function translateAll() {
  clearTimeout(waiting);
  const text = writtenText();
  remember({ text: text || null });
  panels.forEach((panel) => translate(panel, text));
}

/** Make a panel for each chosen model; panels of models that stay chosen keep their content. */
function arrangePanels() {
  const kept = new Map(panels.map((panel) => [panel.model.name, panel]));
  panels.filter(({ model }) => !chosenModels().includes(model)).forEach(stop);
  panels = chosenModels().map((model) => kept.get(model.name) ?? newPanel(model));
  byId("translations").replaceChildren(...panels.map(({ root }) => root));
  const [from] = sideNames();
  byId("source-title").textContent = from;
  byId("text").lang = chosenModels()[0].source.code;
  const names = panels.map(({ model }) => element("option", { value: model.name }, model.name));
  byId("subject-model").replaceChildren(...names);
  byId("subject-model").hidden = panels.length < 2;
  byId("sides").classList.toggle("several", panels.length > 1);
  showKnowledge(byId("knowing"), chosenModels(), (text) => {
    writeText(text);
    translateAll();
  });
}

/** @type {(model: Model) => Panel} */
function newPanel(model) {
  return makePanel(model, { began, settled, pointed: (panel, place) => light(panels, panel, place), opened });
}

/** @type {(panel: Panel) => void} */
function began(panel) {
  const sources = panel.sentences.map(({ source }) => source);
  showSentences(sources);
  if (!isTyping || panel !== subjectPanel()) return;
  subject.sentence = sentenceAtCaret(sources);
  remember({ sentence: subject.sentence ? subject.sentence + 1 : null, at: null });
}

/** @type {(panel: Panel) => void} */
function settled(panel) {
  light(panels, null, null);
  if (panel !== subjectPanel()) return;
  byId("views").removeAttribute("aria-busy");
  showSubject(isTyping ? 0 : undefined);
  isTyping = false;
}

// Explaining

/**
 * Explain the chosen sentence, or the nearest one that exists.
 * @type {(place?: number) => Promise<void> | undefined}
 */
function showSubject(place) {
  const panel = subjectPanel();
  const { sentences, model } = panel;
  const ready = sentences.filter(({ tokens }) => tokens.length);
  byId("why").hidden = !ready.length;
  if (!ready.length) return;
  subject.sentence = Math.min(subject.sentence, sentences.length - 1);
  if (!sentences[subject.sentence].tokens.length) subject.sentence = sentences.indexOf(ready[0]);
  const sentence = sentences[subject.sentence];
  const texts = [word(sentence.source.text, model.source.code), " → ", word(sentence.text, model.target.code)];
  byId("subject").replaceChildren(...texts);
  byId("subject-model").value = model.name;
  byId("stepper").hidden = sentences.length < 2;
  byId("sentence-number").textContent = say("why.sentence", { number: subject.sentence + 1, all: sentences.length });
  byId("sentence-before").disabled = neighbour(-1) === undefined;
  byId("sentence-after").disabled = neighbour(1) === undefined;
  markSubject(panel);
  showPicked(panel, sentence);
  return explain(model, sentence, place);
}

/**
 * The place of the next sentence in one direction that can be explained.
 * @type {(step: number) => number | undefined}
 */
function neighbour(step) {
  const { sentences } = subjectPanel();
  const places = [...sentences.keys()].filter((place) => sentences[place].tokens.length);
  /** @type {(place: number) => boolean} */
  const isThere = (place) => (step > 0 ? place > subject.sentence : place < subject.sentence);
  return step > 0 ? places.find(isThere) : places.findLast(isThere);
}

/** @type {(panel: Panel) => void} */
function markSubject(panel) {
  const several = panel.sentences.length > 1;
  for (const { output } of panels) {
    output.querySelectorAll(".sentence").forEach((each, place) => {
      each.classList.toggle("explained", several && output === panel.output && place === subject.sentence);
    });
  }
}

/** @type {(panel: Panel, sentence: Sentence) => void} */
function showPicked(panel, sentence) {
  const isPicked = pickOf(panel.model.name, sentence.source.text) !== null;
  byId("picked").hidden = !isPicked;
  if (!isPicked) return;
  const back = element("button", { type: "button", class: "plain" }, say("why.back"));
  back.addEventListener("click", () => picked(panel.model, sentence.source.text, null));
  byId("picked").replaceChildren(say("why.picked"), " ", back);
}

/** @type {(model: string, sentence: number, place: number) => Promise<void> | undefined} */
function chooseSubject(model, sentence, place) {
  Object.assign(subject, { model, sentence });
  remember({ model: panels.length > 1 ? model : null, sentence: sentence ? sentence + 1 : null, at: place || null });
  return showSubject(place);
}

/**
 * Show the alternatives for a chosen word; if it was chosen by keyboard, the focus moves to them.
 * @type {(panel: Panel, place: Place, byKey: boolean) => Promise<void>}
 */
async function opened(panel, { sentence, word: at }, byKey) {
  const place = tokenOfWord(panel.sentences[sentence], at);
  const view = viewOfWord();
  openView(view, place);
  remember({ view });
  await chooseSubject(panel.model.name, sentence, place);
  if (byKey && view === "next") focusPlace();
  else byId("why").scrollIntoView({ block: "nearest" });
}

/**
 * Apply a choice to every occurrence of a sentence in the text.
 * @type {(model: Model, text: string, choice: Choice | null) => void}
 */
function picked({ name }, text, choice) {
  setPick(name, text, choice);
  const panel = panels.find(({ model }) => model.name === name);
  panel?.sentences.forEach(({ source }, place) => source.text === text && changeSentence(panel, place));
}

function listenToSubject() {
  /** @type {(by: number) => () => void} */
  const step = (by) => () => chooseSubject(subjectPanel().model.name, neighbour(by) ?? subject.sentence, 0);
  byId("sentence-before").addEventListener("click", step(-1));
  byId("sentence-after").addEventListener("click", step(1));
  byId("subject-model").addEventListener("change", (/** @type {any} */ { target }) => {
    chooseSubject(target.value, subject.sentence, 0);
  });
}

// Setting up

/** Show the state that the address describes. */
export function followTranslating() {
  const { text, model, sentence, view, at } = wished();
  readPicks();
  Object.assign(subject, { model: model ?? "", sentence: Math.max(Math.round(Number(sentence)) - 1 || 0, 0) });
  choosePair();
  arrangePanels();
  writeText(text ?? "");
  openView(view, Math.max(Math.round(Number(at)) || 0, 0));
  translateAll();
}

/**
 * Mount the desk and list the models that translate.
 * @type {(models: Model[], limits: Record<string, number>) => void}
 */
export function mountTranslating(models, limits) {
  mountExplaining(limits, { picked });
  mountChoosing(models, () => {
    arrangePanels();
    translateAll();
  });
  mountWriting(limits, {
    typed,
    pointed: (place) => light(panels, null, place),
    entered: ({ sentence }) => {
      if (subjectPanel().sentences[sentence]?.tokens.length && sentence !== subject.sentence) {
        chooseSubject(subjectPanel().model.name, sentence, 0);
      }
    },
  });
  listenToSubject();
}
