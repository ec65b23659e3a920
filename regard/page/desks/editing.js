// Editing the attention of a model: heads are switched off and links moved, and the model runs again.

import { button, byId, element, word } from "../parts/common.js";
import {
  changedWords, fullName, headEdit, holding, isOff, linkEdit, marksOf, namedIn, nameOf, namesPlaces, pastOf, placeOf,
  readRecord, recordOf,
} from "./editing/edits.js";
import { saveJson } from "../parts/saving.js";
import { say, sayParts } from "../parts/texts.js";
import { block, letRelink, lookingSides, shown, sideName, sight, state, wordOf } from "../views/attention/state.js";

/** @import { Child } from "../parts/common.js" */
/** @import { Edit, Entry } from "./editing/edits.js" */
/** @import { Party } from "../views/attention/state.js" */

/** @typedef {{ entries: Entry[], past: Entry[][] }} Kept the edits of a model, and those before each change */
/** @typedef {{ model: string, text: string }} Subject the name of a model, and the text that it reads */

/** @type {Map<string, Kept>} */
const kept = new Map();
/** @type {() => void} */
let changed; // called when the model has to run again
/** @type {Subject} */
let subject = { model: "", text: "" }; // what is displayed
/** @type {string | null} */
let checksum = null; // of the displayed model, known while it is edited

/** @type {(model: string) => Kept} */
function keptOf(model) {
  if (!kept.has(model)) kept.set(model, { entries: [], past: [] });
  return /** @type {Kept} */ (kept.get(model));
}

/** @type {(of?: Subject) => Entry[]} */
const entriesOf = ({ model, text } = subject) => holding(keptOf(model).entries, text);

/**
 * Request attention under the edits of a model and a text; edits that are refused are taken back.
 * @type {(of: Subject, request: (edits: Edit[]) => Promise<any>) => Promise<any>}
 */
export async function askEdited(of, request) {
  const edits = entriesOf(of).map(({ edit }) => edit);
  /** @type {string} */
  let refusal;
  try {
    const seen = await request(edits);
    if (!edits.length) return seen;
    const isForeign = entriesOf(of).some(({ model }) => model && model !== seen.checksum);
    if (!isForeign) return { ...seen, edited: marksOf(edits, /** @type {any} */ (Object.values(seen.modes)[0])) };
    refusal = say("edits.other_model");
  } catch (error) {
    if (!edits.length || /** @type {any} */ (error).status !== 400) throw error;
    refusal = /** @type {Error} */ (error).message;
  }
  const here = keptOf(of.model);
  here.entries = here.past.pop() ?? [];
  byId("editing").open = true;
  tellTrouble(refusal);
  return askEdited(of, request);
}

/**
 * Take other edits for the model; the earlier ones can be brought back.
 * @type {(entries: Entry[]) => void}
 */
function change(entries) {
  const here = keptOf(subject.model);
  here.past.push(here.entries);
  here.entries = entries;
  tellTrouble("");
  changed();
}

/** @type {(edit: Edit, named?: Entry["named"], model?: Entry["model"]) => Entry} */
function entryOf(edit, named = null, model = null) {
  return { edit, text: namesPlaces(edit) ? subject.text : null, named, model };
}

function undo() {
  const here = keptOf(subject.model);
  const past = pastOf(here.past, here.entries, subject.text);
  if (!past.length) return;
  here.entries = /** @type {Entry[]} */ (past.pop());
  here.past = past;
  tellTrouble("");
  changed();
}

/** @type {(sentence: string) => void} */
function tellTrouble(sentence) {
  byId("editing-trouble").textContent = sentence;
  byId("editing-trouble").hidden = !sentence;
}

// Showing

/**
 * Show the heads of the displayed block, the edits of a model and a text, and the outputs without and with them.
 * @type {(of: Subject) => void}
 */
export function showEditing(of) {
  if (of.model !== subject.model || of.text !== subject.text) tellTrouble("");
  subject = of;
  checksum = /** @type {any} */ (sight).checksum ?? null;
  const entries = entriesOf();
  showHeads();
  byId("edited-outputs").hidden = !entries.length;
  const { unedited, target } = /** @type {any} */ (sight);
  if (entries.length) {
    byId("unedited").replaceChildren(...textParts(unedited, target));
    byId("edited").replaceChildren(...textParts(target, unedited));
    byId("edited-same").hidden = unedited.text !== target.text;
  }
  byId("edit-list").replaceChildren(...entries.map(editLine));
  byId("edits-undo").disabled = !pastOf(keptOf(subject.model).past, keptOf(subject.model).entries, subject.text).length;
  byId("edits-save").disabled = !entries.length;
}

/** @type {(text: { text: string, language: string }, other: { text: string }) => Child[]} */
function textParts({ text, language }, other) {
  if (!text) return [say("edits.nothing")];
  const output = word("", language);
  changedWords(text, other.text).forEach(({ word: each, isNew }, place) => {
    output.append(place ? " " : "", isNew ? element("mark", {}, each) : each);
  });
  return [output];
}

function showHeads() {
  const { side, layer } = state;
  const off = new Set(entriesOf().filter(({ edit }) => isOff(edit)).map(({ edit }) => edit.at));
  const heads = block().heads.map((_, place) => {
    const head = place + 1;
    const isPressed = off.has(nameOf({ side, layer, head })) || off.has(nameOf({ side, layer, head: "mean" }));
    const about = { class: "plain head-switch", "aria-pressed": isPressed, "data-head": head };
    return button(about, say("heads.head", { number: head }));
  });
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.head;
  const where = placeName({ side, layer, head: null }, false);
  byId("head-switches").replaceChildren(element("span", {}, say("edits.switch", { where })), ...heads);
  if (focused) heads[Number(focused) - 1]?.focus(); // its button was made again
}

/** @type {(place: { side: string, layer: number, head: number | null }, isWhole?: boolean) => string} */
function placeName({ side, layer, head }, isWhole = true) {
  const heads = head ? say("heads.head", { number: head }) : isWhole ? say("edits.all_heads") : "";
  return [sideName(side), say("heads.block", { number: layer }), heads].filter(Boolean).join(", ");
}

/** @type {(entry: Entry) => HTMLLIElement} */
function editLine(entry) {
  const remove = button({ class: "plain remove", "aria-label": say("edits.remove") }, "×");
  remove.addEventListener("click", () => change(keptOf(subject.model).entries.filter((each) => each !== entry)));
  return element("li", {}, ...sentenceOf(entry), " ", remove);
}

/**
 * What an edit does, in a sentence.
 * @type {(entry: Entry) => Child[]}
 */
function sentenceOf(entry) {
  const { edit } = entry;
  const place = placeOf(edit.at);
  const where = place && placeName(place);
  if (place && isOff(edit)) return sayParts("edits.off", { where });
  const side = place && shownSide(place.side);
  const isLink = (edit.part ?? "weights") === "weights" && ["move", "force"].includes(edit.do) && edit.queries;
  if (!place || !side || !isLink || edit.values || edit.rows || (edit.by ?? 1) !== 1) {
    return sayParts("edits.other", { edit: element("code", {}, JSON.stringify(edit)) });
  }
  entry.named ??= namedIn(edit, side);
  const [looksFrom, looksAt] = lookingSides(place.side);
  /** @type {(words: string[], party: Party) => HTMLElement} */
  const words = (words, party) => {
    return element("b", {}, ...words.flatMap((each, at) => [...(at ? [" "] : []), wordOf(each, party)]));
  };
  const { query, from, to } = entry.named;
  const values = { where, query: words(query, looksFrom), to: words(to, looksAt) };
  if (edit.do === "force") return sayParts("edits.forced", values);
  return sayParts("edits.moved", { ...values, from: words(from, looksAt) });
}

/** @type {(side: string) => any} */
const shownSide = (side) => sight.modes[state.mode][side];

// Acting

/** @type {(row: number, from: number | null, to: number) => void} */
function moveLink(row, from, to) {
  const side = /** @type {any} */ (shown());
  const edit = linkEdit(side, state, row, from, to);
  change([...keptOf(subject.model).entries, entryOf(edit, namedIn(edit, side))]);
}

/** @type {(head: number) => void} */
function switchHead(head) {
  const { side, layer } = state;
  const { entries } = keptOf(subject.model);
  const name = nameOf({ side, layer, head });
  const without = entries.filter(({ edit }) => !(isOff(edit) && edit.at === name));
  change(without.length < entries.length ? without : [...entries, entryOf(headEdit({ side, layer, head }))]);
}

/** @type {(file: File) => Promise<void>} */
async function openRecord(file) {
  const record = readRecord(await file.text());
  if (!record) return tellTrouble(say("edits.unreadable", { file: file.name }));
  const others = keptOf(subject.model).entries.filter((entry) => !entriesOf().includes(entry));
  const sides = Object.keys(sight.modes[state.mode]);
  const edits = record.edits.map((edit) => ({ ...edit, at: fullName(edit.at, sides) }));
  change([...others, ...edits.map((edit) => entryOf(edit, null, record.model))]);
}

/**
 * Build the part in which attention is edited; `onChange` is called when the model has to run again.
 * @type {(onChange: () => void) => void}
 */
export function mountEditing(onChange) {
  changed = onChange;
  const switches = element("div", { id: "head-switches", class: "switches", role: "group" });
  const trouble = element("p", { id: "editing-trouble", class: "trouble", role: "alert", hidden: "" });
  /** @type {(id: string) => HTMLElement} */
  const line = (id) => element("div", {}, element("dt", {}, say(`edits.${id}`)), element("dd", { id }));
  const same = element("p", { id: "edited-same", class: "hint" }, say("edits.same"));
  const outputs = element("div", { id: "edited-outputs", role: "status", hidden: "" });
  outputs.append(element("dl", { class: "pair" }, line("unedited"), line("edited")), same);
  const undoing = button({ id: "edits-undo", class: "plain" }, say("edits.undo"));
  const saving = button({ id: "edits-save", class: "plain" }, say("edits.save"));
  const file = element("input", { id: "edits-file", type: "file", accept: ".json,application/json", class: "unseen" });
  const opening = element("label", { class: "plain opening" }, say("edits.open"), file);
  const acts = element("p", { class: "acts" }, undoing, saving, opening);
  const list = element("ol", { id: "edit-list", "aria-label": say("edits.list") });
  const hint = element("p", { class: "hint" }, say("edits.hint"));
  const summary = element("summary", {}, say("edits.title"));
  const panel = element("details", { id: "editing" }, summary, hint, switches, trouble, outputs, list, acts);
  byId("caption").after(panel);
  panel.addEventListener("toggle", () => letRelink(panel.open ? moveLink : null));
  switches.addEventListener("click", (/** @type {any} */ { target }) => {
    if (target.dataset.head) switchHead(Number(target.dataset.head));
  });
  byId("controls").addEventListener("change", showHeads); // of the block that is shown now
  undoing.addEventListener("click", undo);
  saving.addEventListener("click", () => {
    saveJson(recordOf(entriesOf().map(({ edit }) => edit), checksum), "edits");
  });
  file.addEventListener("change", async () => {
    const [chosen] = file.files ?? [];
    file.value = "";
    if (chosen) await openRecord(chosen);
  });
}
