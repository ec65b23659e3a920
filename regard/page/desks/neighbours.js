// Words and their vectors: the neighbours of a word, analogies, and a map.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { button, byId, element, section, signed } from "../parts/common.js";
import { followMap, mountMapping, showOnMap } from "./neighbours/mapping.js";
import { savable } from "../parts/saving.js";
import { ask, Refusal } from "../parts/server.js";
import { duration, say, sayParts } from "../parts/texts.js";

/** @import { Child } from "../parts/common.js" */
/** @import { Model } from "../parts/server.js" */

const COUNT = 15; // words to show
const ANALOGY = ["like", "as", "third"]; // the fields of an analogy, in reading order

/** @type {Model[]} */
let models = [];
/** @type {any} */
let shown = null; // the displayed answer

const hideWords = () => (byId("words-part").hidden = true);
const asking = oneAtATime("words-part", "words-trouble", hideWords);
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("lexicon").value) ?? models[0];
/** @type {(id: string) => string} */
const valueIn = (id) => byId(id).value.trim();

/** Show the state that the address describes. */
export function followNeighbouring() {
  const wish = wished();
  if (models.some(({ name }) => name === wish.lexicon)) byId("lexicon").value = wish.lexicon;
  for (const id of ["word", ...ANALOGY]) byId(id).value = wish[id] ?? "";
  followMap(wish);
  neighbourAgain();
}

/** Send a request: an analogy if its fields are filled in, otherwise neighbours. */
export function neighbourAgain() {
  if (ANALOGY.some(valueIn)) completeAnalogy();
  else if (valueIn("word")) findNeighbours();
  else {
    asking.forget();
    hideWords();
  }
}

/**
 * Ask for the neighbours of a word; if it was chosen on the map, the map does not move.
 * @type {(isOnMap?: boolean) => Promise<void>}
 */
function findNeighbours(isOnMap = false) {
  const word = valueIn("word");
  ANALOGY.forEach((id) => (byId(id).value = ""));
  remember({ word, like: null, as: null, third: null });
  return askFor("v1/neighbours", { words: [word] }, (found) => {
    const [{ word: known, neighbours }] = found.words;
    showWords(found, sayParts("words.nearest", { word: element("b", {}, known) }), neighbours);
    if (!isOnMap) showOnMap(known);
  });
}

function completeAnalogy() {
  const [a, b, c] = ANALOGY.map(valueIn);
  byId("word").value = "";
  remember({ word: null, like: a || null, as: b || null, third: c || null });
  if (!a || !b || !c) return asking.attempt(refuseGaps);
  return askFor("v1/analogy", { a, b, c }, (found) => {
    const [like, as, word] = found.words;
    const best = element("b", {}, found.word);
    showWords(found, sayParts("words.analogy", { like, as, word, best }), found.neighbours);
  });
}

async function refuseGaps() {
  throw new Refusal(say("words.three"));
}

/**
 * Ask for words.
 * @type {(path: string, question: object, show: (found: any) => void) => Promise<void>}
 */
const askFor = (path, question, show) => asking.attempt(async (signal) => {
  const found = await ask(path, { model: model().name, count: COUNT, ...question }, signal);
  if (!signal.aborted) show(found);
});

/** @type {(found: any, title: Child[], neighbours: [string, number][]) => void} */
function showWords(found, title, neighbours) {
  shown = found;
  byId("words-title-line").replaceChildren(...title);
  byId("words-near").tBodies[0].replaceChildren(...neighbours.map(neighbourLine));
  byId("words-facts").textContent = `${duration(found.seconds)} · ${found.model}`;
  byId("words-part").hidden = false;
}

/** @type {(neighbour: [string, number]) => HTMLTableRowElement} */
function neighbourLine([word, cosine]) {
  const bar = element("div", { class: "bar" }, element("i"), element("span", {}, signed(cosine)));
  bar.style.setProperty("--share", Math.max(cosine, 0).toFixed(5));
  const name = button({ class: "word-link", "data-word": word }, word);
  return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, bar));
}

/**
 * Show the neighbours of a word that was chosen in a list or on the map.
 * @type {(word: string, isOnMap: boolean) => void}
 */
function lead(word, isOnMap) {
  byId("word").value = word;
  findNeighbours(isOnMap);
}

function wordForm() {
  const choice = element("select", { id: "lexicon", "aria-label": say("words.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  choice.addEventListener("change", () => {
    remember({ lexicon: choice.value });
    followMap(wished());
    neighbourAgain();
  });
  const input = element("input", { id: "word", type: "text", autocomplete: "off", dir: "auto", required: "" });
  const label = element("label", { class: "worded" }, say("words.word"), input);
  const go = element("button", { class: "plain" }, say("desks.neighbours"));
  return askingForm("wording", () => findNeighbours(), choice, label, go);
}

/** The form for an analogy: a sentence with gaps for three words. */
function analogyForm() {
  /** @type {(id: string) => HTMLElement} */
  const gap = (id) => {
    const about = say(`words.${id}`);
    return element("input", { id, type: "text", autocomplete: "off", dir: "auto", required: "", "aria-label": about });
  };
  const [like, as, third] = ANALOGY.map(gap);
  const sentence = element("span", { class: "worded" }, ...sayParts("words.gaps", { like, as, third }));
  const go = element("button", { class: "plain" }, say("words.complete"));
  return askingForm("completing", completeAnalogy, sentence, go);
}

/** @type {(id: string, submit: () => void, ...children: Child[]) => HTMLFormElement} */
function askingForm(id, submit, ...children) {
  const form = element("form", { id, class: "asking" }, ...children);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return form;
}

/**
 * Mount the desk and list the models that have word vectors.
 * @type {(served: Model[]) => void}
 */
export function mountNeighbouring(served) {
  models = served;
  const table = element("table", { id: "words-near", class: "bars" }, element("tbody"));
  const line = element("p", { id: "words-title-line", class: "answer", role: "status" });
  const part = section("words", say("words.title"), line, table, element("p", { id: "words-facts", class: "foot" }));
  part.hidden = true;
  const trouble = element("p", { id: "words-trouble", class: "trouble", role: "alert", hidden: "" });
  const maps = element("div", { id: "map-holder" });
  byId("words-desk").append(wordForm(), analogyForm(), trouble, part, maps);
  savable(part, "words", () => shown);
  mountMapping(maps, () => ({ model: model().name, word: valueIn("word") }), (word) => lead(word, true));
  table.addEventListener("click", (/** @type {any} */ { target }) => {
    if (target.dataset?.word !== undefined) lead(target.dataset.word, false);
  });
}
