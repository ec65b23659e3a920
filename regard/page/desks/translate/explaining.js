// The views that explain one sentence of one model; each is loaded when it is opened.

import { remember, wished, wishedAll } from "../../parts/address.js";
import { modeWanted } from "../attending.js";
import { makeHome } from "../attending/room.js";
import { tellComputing } from "../../parts/asking.js";
import { button, byId, element, reachable, walkable } from "../../parts/common.js";
import { askEdited } from "../editing.js";
import { mountForward, showForward } from "../../views/forward.js";
import { mountNBest, showNBest } from "../../views/n-best.js";
import { mountNext, showNext } from "../../views/next.js";
import { addTrust, mountReasons, showReasons } from "../../views/reasons.js";
import { makeMethodChoice } from "../reasoning.js";
import { mountTree, showTree } from "../../views/tree.js";
import { range } from "../../parts/ranges.js";
import { ask, Refusal } from "../../parts/server.js";
import { say } from "../../parts/texts.js";

/** @import { Show } from "../attending/room.js" */
/** @import { View as ForwardView } from "../../views/forward.js" */
/** @import { ReasonsView } from "../../views/reasons.js" */
/** @import { MethodChoice } from "../reasoning.js" */
/** @import { Model } from "../../parts/server.js" */
/** @import { Sentence } from "./panel.js" */
/** @import { Choice } from "./picks.js" */
/** @typedef {{ model: Model, sentence: Sentence }} Subject the model and the sentence of its panel to explain */

const VIEWS = ["attention", "reasons", "next", "others", "beam", "forward"];
const CAN = { forward: "forward", reasons: "why" }; // views that not every model has, and what it must be able to do
const KEPT = 12; // answers that are cached

/** @type {Subject} */
let subject; // the model and the sentence that are explained
let view = "attention";
let at = 0; // the place in the output whose next token is shown
/** @type {{ picked: (model: Model, text: string, choice: Choice) => void }} */
let heard;
/** @type {Record<string, number>} */
let limits = {};
/** @type {AbortController | null} */
let controller = null;
/** @type {{ of: Subject, before: string[], tokens: any[] }} */
let offered; // the tokens that can be picked, the tokens before them, and their subject
/** @type {Subject} */
let listedOf; // the subject whose outputs are listed
/** @type {ForwardView} */
let layers;
/** @type {ReasonsView} */
let reasons;
/** @type {MethodChoice} */
let method; // by which reasons are found
/** @type {Show} */
let showSeen; // shows attention, and the part in which it is edited
/** @type {Map<string, any>} */
const answers = new Map();

/** @type {(name: string) => HTMLElement} */
const holder = (name) => byId(`${name}-view`);
/** @type {(name: string) => HTMLElement} */
const trouble = (name) => byId(`${name}-trouble`);

/**
 * Explain a sentence in the open view, at one of its tokens if a place is given.
 * @type {(model: Model, sentence: Sentence, place?: number) => Promise<void>}
 */
export function explain(model, sentence, place = at) {
  subject = { model, sentence };
  at = Math.min(place, sentence.tokens.length);
  for (const [name, verb] of Object.entries(CAN)) {
    const isThere = model.can.includes(verb);
    byId(`${name}-tab`).hidden = !isThere;
    if (view === name && !isThere) openView("attention");
  }
  return refresh();
}

/**
 * The view in which a word of the output is opened: the reasons if they are shown, or else the next token.
 * @type {() => string}
 */
export const viewOfWord = () => (view === "reasons" ? view : "next");

/**
 * Open a view, and set the place for the next-token view; the content is loaded when a sentence is explained.
 * @type {(name: string, place?: number) => void}
 */
export function openView(name, place) {
  view = VIEWS.includes(name) ? name : "attention";
  if (place !== undefined) at = place;
  layers.open = new Set(wishedAll("layers"));
  method.follow();
  for (const each of VIEWS) {
    const isOpen = each === view;
    byId(`${each}-tab`).setAttribute("aria-selected", isOpen);
    byId(`${each}-panel`).hidden = !isOpen;
  }
  reachable(VIEWS.map((each) => byId(`${each}-tab`)), byId(`${view}-tab`));
}

/** Load the data of the open view and show it; an earlier request that is still pending is cancelled. */
async function refresh() {
  controller?.abort();
  controller = new AbortController();
  const { signal } = controller;
  const name = view;
  const panel = byId(`${name}-panel`);
  panel.setAttribute("aria-busy", true);
  const removeNote = tellComputing(holder(name));
  try {
    await SHOWING[name](signal);
    if (!signal.aborted) tellTrouble(name, null);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Refusal)) throw error;
    tellTrouble(name, error);
  } finally {
    removeNote();
    if (!signal.aborted) panel.removeAttribute("aria-busy");
  }
}

/** @type {(name: string, error: Error | null) => void} */
function tellTrouble(name, error) {
  holder(name).hidden = Boolean(error);
  trouble(name).hidden = !error;
  if (!error) return;
  const again = button({ class: "plain" }, say("trouble.again"));
  again.addEventListener("click", refresh);
  trouble(name).replaceChildren(error.message, " ", again);
}

/**
 * The answer to a request about the subject; the same request is sent only once.
 * @type {(path: string, question: object, signal: AbortSignal) => Promise<any>}
 */
async function about(path, question, signal) {
  const { model, sentence } = subject;
  const whole = { model: model.name, [path === "v1/why" ? "input" : "text"]: sentence.source.text, ...question };
  const key = path + JSON.stringify(whole);
  if (!answers.has(key)) {
    const answer = await ask(path, whole, signal);
    if (answers.size >= KEPT) answers.delete([...answers.keys()][0]);
    answers.set(key, answer);
  }
  signal.throwIfAborted();
  return answers.get(key);
}

/**
 * The requested number, limited to the valid range.
 * @type {(wish: any, most: number, usual: number) => number}
 */
const within = (wish, most, usual) => Math.min(Math.max(Math.round(Number(wish)) || usual, 1), most);

/** @type {Record<string, (signal: AbortSignal) => Promise<void>>} */
const SHOWING = {
  attention: async (signal) => {
    const { model, sentence } = subject;
    if (!model.can.includes("attention")) throw new Refusal(say("why.no_attention"));
    const of = { model: model.name, text: sentence.source.text };
    const seen = await askEdited(of, (edits) => {
      const question = edits.length ? { edits } : { tokens: sentence.tokens };
      return about("v1/attention", { ...question, mode: modeWanted() }, signal);
    }).catch((error) => {
      if (!signal.aborted) remember({ mode: null }); // there are fewer words than tokens, so words may still fit
      throw error;
    });
    holder("attention").hidden = false; // only visible elements can be measured
    showSeen(seen, of);
  },

  reasons: async (signal) => {
    const { tokens } = subject.sentence;
    const question = { tokens, place: at + 1, mode: reasons.mode, ...method.wanted() };
    const found = await about("v1/why", question, signal);
    holder("reasons").hidden = false;
    tellTrouble("reasons", null);
    showReasons(reasons, found);
    if (found.maps.length) addTrust(reasons, await about("v1/why", { ...question, trust: true }, signal));
  },

  next: async (signal) => {
    const { tokens } = subject.sentence;
    const next = await about("v1/next", { before: tokens.slice(0, at), shown: 50 }, signal);
    const named = next.tokens.map((/** @type {any} */ { text }) => text);
    /** @type {(next: any) => boolean} */
    const isTaken = ({ token, end }) => (at < tokens.length ? token === tokens[at] : end);
    const taken = next.tokens.findIndex(isTaken);
    const end = next.tokens.find((/** @type {any} */ each) => each.end)?.text ?? "</s>";
    const around = { before: tokens.slice(0, at), after: [...tokens.slice(at), end], language: next.target.language };
    holder("next").hidden = false;
    showNext({ ...next, ...around, outputs: "translation", tokens: named, taken: taken < 0 ? null : taken }, wished());
    offered = { of: subject, before: around.before, tokens: next.tokens };
  },

  others: async (signal) => {
    const count = within(wished().n, limits.n_best, 5);
    const beam = Math.min(Math.max(count, subject.model.decoding.beam), limits.beam);
    const question = { n_best: Math.min(count, beam), beam, split_sentences: false, explain: false };
    const { translations } = await about("v1/translate", question, signal);
    showNBest(translations[0].n_best, subject.sentence.text, subject.model.target.code, count);
    listedOf = subject;
  },

  beam: async (signal) => {
    const width = within(wished().beam, limits.beam, subject.model.decoding.beam);
    const found = await about("v1/beam", { beam: width }, signal);
    holder("beam").hidden = false;
    byId("beam-width").value = width;
    byId("beam-width-value").value = width;
    showTree(found, wished());
  },

  forward: async (signal) => {
    const found = await about("v1/forward", { tokens: subject.sentence.tokens, opened: [...layers.open] }, signal);
    holder("forward").hidden = false;
    showForward(layers, found);
  },
};

/**
 * Move to another place in the output.
 * @type {(place: number) => Promise<void>}
 */
function go(place) {
  at = place;
  remember({ at: at || null });
  return refresh();
}

/**
 * Continue the translation with another token.
 * @type {(place: number) => void}
 */
function pick(place) {
  choose(offered.of, [...offered.before, offered.tokens[place].token]);
}

/**
 * Apply a choice to the sentence for which it was displayed, even if another sentence is being loaded.
 * @type {(subject: Subject, choice: Choice) => void}
 */
function choose({ model, sentence }, choice) {
  heard.picked(model, sentence.source.text, choice);
}

/**
 * Mount all views; `picked` is called with the model, the sentence, and the first tokens or the whole output.
 * @type {(served: Record<string, number>, listeners: typeof heard) => void}
 */
export function mountExplaining(served, listeners) {
  [limits, heard] = [served, listeners];
  for (const name of VIEWS) {
    const controls = { role: "tab", id: `${name}-tab`, class: "tab", "aria-controls": `${name}-panel` };
    byId("tabs").append(button({ ...controls, "data-view": name }, say(`why.${name}`)));
    const room = element("div", { id: `${name}-view`, class: "view", hidden: "" });
    const said = element("p", { id: `${name}-trouble`, class: "trouble", role: "alert", hidden: "" });
    const panel = { id: `${name}-panel`, role: "tabpanel", "aria-labelledby": `${name}-tab`, hidden: "" };
    byId("views").append(element("div", panel, said, room));
  }
  showSeen = makeHome(holder("attention"), refresh);
  mountNext(holder("next"), { go, pick });
  mountNBest(holder("others"), limits.n_best, refresh, (text) => choose(listedOf, text));
  const widening = range("beam-width", say("why.width"), limits.beam, (width) => {
    remember({ beam: width });
    refresh();
  });
  mountTree(holder("beam"), widening);
  layers = mountForward(holder("forward"), "forward", (places, isMissing) => {
    remember({ layers: places });
    if (isMissing) refresh();
  });
  method = makeMethodChoice("word", refresh);
  trouble("reasons").before(method.root);
  reasons = mountReasons(holder("reasons"), "reasons", go);
  walkable(byId("tabs"), ".tab:not([hidden])");
  for (const event of ["click", "focusin"]) {
    byId("tabs").addEventListener(event, (/** @type {any} */ { target }) => {
      if (target.dataset.view) chooseView(target.dataset.view);
    });
  }
}

/** @type {(name: string) => void} */
function chooseView(name) {
  if (name === view) return;
  openView(name);
  remember({ view: name });
  if (subject) refresh();
}

