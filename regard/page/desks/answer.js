// Answering: an input, the answers with their probabilities, and beneath them what the model looked at.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { byId, element, percent, section } from "../parts/common.js";
import { encoded } from "../parts/encoding.js";
import { showKnowledge } from "../parts/knowing.js";
import { mountLooking, showLooking } from "./answer/looking.js";
import { savable } from "../parts/saving.js";
import { ask } from "../parts/server.js";
import { makeSketchField, sketched } from "./answer/sketching.js";
import { taggedWords } from "../views/tags.js";
import { duration, say } from "../parts/texts.js";

/** @import { Attributes } from "../parts/common.js" */
/** @import { Model } from "../parts/server.js" */

const SHOWN = 10; // answers, the most probable first
// What a model reads -> how the field for it is filled.
/** @type {Record<string, Attributes>} */
const FIELDS = {
  nodes: { type: "number", min: 0, step: 1, inputmode: "numeric" },
  picture: { type: "file", accept: "image/*" },
  text: { type: "text", autocomplete: "off", dir: "auto" },
  tokens: { type: "text", autocomplete: "off", dir: "auto" },
  items: { type: "text", autocomplete: "off", dir: "ltr" },
  sequence: { type: "text", autocomplete: "off", dir: "ltr" },
  story: { rows: 7, dir: "auto" },
};

/** @type {Model[]} */
let models = [];
/** @type {Record<string, number>} */
let limits = {};
/** @type {any} */
let shown = null; // the answer that is shown

const hideAnswer = () => ["answer-part", "looking"].forEach((part) => (byId(part).hidden = true));
const asking = oneAtATime("answer-part", "answer-trouble", hideAnswer);
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("answerer").value) ?? models[0];
/** @type {(model: Model) => string} */
const kindOfField = ({ reads }) => (reads === "drawing" || Object.hasOwn(FIELDS, reads) ? reads : "text");

/** Show what the address asks for. */
export function followAnswering() {
  const { answerer, input } = wished();
  if (models.some(({ name }) => name === answerer)) byId("answerer").value = answerer;
  makeField();
  if (["picture", "drawing"].includes(model().reads) || input === undefined) return forgetAnswer();
  fillField(input);
  answerAgain();
}

/**
 * Put an input into its field; of a pair of texts, the second into the other.
 * @type {(input: string) => void}
 */
function fillField(input) {
  const [first, second] = model().pairs ? input.split("\t") : [input];
  [byId("input").value, byId("second").value] = [first, second ?? ""];
}

/** The field for an input of the model that is chosen. */
function makeField() {
  const kind = kindOfField(model());
  byId("input-title").textContent = say(`answer.${kind}`);
  for (const name of ["input-title", "ask"]) byId(name).hidden = kind === "drawing"; // a sheet asks by itself
  byId("raw-label").hidden = model().reads !== "tokens";
  byId("second-label").hidden = !model().pairs;
  showKnowledge(byId("answer-knowing"), [model()], (text) => {
    fillField(text);
    answerAgain();
  });
  const named = { id: "input", "data-reads": model().reads };
  if (kind !== "drawing" && byId("input").dataset.reads === model().reads) return;
  /** @type {any} */
  const made =
    kind === "drawing"
      ? makeSketchField(named, model().extent, answerAgain)
      : element(kind === "story" ? "textarea" : "input", { ...named, required: "", ...FIELDS[kind] });
  if (kind === "story") openForTelling(made);
  byId("input").replaceWith(made);
  made.addEventListener("change", () => made.type === "file" && answerAgain());
  showPreview(null);
}

/**
 * A field of lines: Enter ends a fact, and behind a question it asks.
 * @type {(field: HTMLTextAreaElement) => void}
 */
function openForTelling(field) {
  field.placeholder = say("answer.story_hint");
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !/[?？]$/.test(field.value.trimEnd())) return;
    event.preventDefault();
    answerAgain();
  });
}

/** @type {(file: File | null) => void} */
function showPreview(file) {
  URL.revokeObjectURL(byId("preview").src);
  byId("preview").hidden = !file;
  if (file) byId("preview").src = URL.createObjectURL(file);
  else byId("preview").removeAttribute("src");
}

/** What is in the field, as the server takes it; nothing where it is empty. */
async function given() {
  if (model().reads === "drawing") return sketched();
  const field = byId("input");
  if (model().pairs) return field.value && byId("second").value && `${field.value}\t${byId("second").value}`;
  if (field.type !== "file") return field.type === "number" && field.value ? Number(field.value) : field.value;
  const [file] = field.files;
  showPreview(file ?? null);
  if (!file) return "";
  return { picture: await encoded(file, limits.picture, "answer.too_large") };
}

/** Ask for the answer to what is in the field; what was asked for before and did not come yet is forgotten. */
export async function answerAgain() {
  const asked = model();
  await asking.attempt(async (signal) => {
    const input = await given();
    if (signal.aborted) return;
    if (input === "") return hideAnswer(); // what there is is an answer to something else
    if (typeof input !== "object") remember({ input });
    /** @type {Record<string, object>} */
    const manners = { tokens: { raw: byId("raw").checked }, text: { unfold: true } };
    const manner = manners[asked.reads];
    const found = await ask("v1/answer", { model: asked.name, inputs: [input], ...manner }, signal);
    if (signal.aborted) return;
    byId("looking").hidden = true; // which is of the input before
    showAnswer(found, input);
    if (asked.can.includes("look")) await showLooking(asked.name, input, signal);
  });
}

function forgetAnswer() {
  asking.forget();
  hideAnswer();
}

/** @type {(found: any, input: any) => void} */
function showAnswer(found, input) {
  const [answer] = found.answers;
  shown = { ...found, input };
  byId("answers").hidden = "answers" in answer;
  if ("answers" in answer) byId("answer").replaceChildren(taggedWords(answer));
  else showClasses(found.answers, found.answers.length > 1 ? found.inputs.map(aspectOf) : []);
  const remark = answer.remark ? ` · ${answer.remark}` : ""; // of what was done to a picture
  byId("answer-facts").textContent = `${duration(found.seconds)} · ${found.model}${remark}`;
  byId("answer-part").hidden = false;
}

/**
 * What a text is asked about: what stands in brackets.
 * @type {(text: string) => string}
 */
const aspectOf = (text) => /\[([^[\]]+)\]/.exec(text)?.[1] ?? text;

/**
 * The best class of each answer in a line, and the probabilities of all beneath; where there are aspects, for each.
 * @type {(answers: any[], aspects: string[]) => void}
 */
function showClasses(answers, aspects) {
  const parts = answers.flatMap(({ answer, probability, probabilities }, place) => {
    const about = aspects.length ? [`${place ? " · " : ""}${aspects[place]}: `] : [];
    const share = Object.keys(probabilities).length ? [` ${percent(probability)}`] : [];
    return [...about, element("b", {}, answer), ...share];
  });
  byId("answer").replaceChildren(...parts);
  byId("answers").replaceChildren(...answers.map((each, place) => classTable(each, aspects[place])));
}

/** @type {(answer: any, aspect: string) => HTMLElement} */
function classTable({ answer, probabilities }, aspect) {
  const ranked = Object.entries(probabilities).sort(([, one], [, other]) => other - one);
  const lines = ranked.slice(0, SHOWN).map(([name, share]) => answerLine(name, share, name === answer));
  const rest = ranked.slice(SHOWN).reduce((total, [, share]) => total + share, 0);
  if (ranked.length > SHOWN) lines.push(answerLine(say("next.others", { count: ranked.length - SHOWN }), rest, false));
  const caption = aspect === undefined ? [] : [element("caption", { dir: "auto" }, aspect)];
  return element("table", { class: "bars" }, ...caption, element("tbody", {}, ...lines));
}

/** @type {(name: string, share: number, isBest: boolean) => HTMLElement} */
function answerLine(name, share, isBest) {
  const bar = element("div", { class: "bar" }, element("i"), element("span", {}, percent(share)));
  bar.style.setProperty("--share", share.toFixed(5));
  return element("tr", isBest ? { class: "taken" } : {}, element("th", { scope: "row" }, name), element("td", {}, bar));
}

/**
 * Make room for the desk, and offer the models that answer.
 * @type {(served: Model[], granted: Record<string, number>) => void}
 */
export function mountAnswering(served, granted) {
  [models, limits] = [served, granted];
  const choice = element("select", { id: "answerer", "aria-label": say("answer.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  const label = element("label", { for: "input", id: "input-title" });
  const second = element("input", { id: "second", type: "text", autocomplete: "off", dir: "auto" });
  const other = element("label", { id: "second-label", class: "second", hidden: "" }, say("answer.second"), second);
  const raw = element("input", { id: "raw", type: "checkbox" });
  const cutting = element("label", { id: "raw-label", hidden: "" }, raw, " ", say("answer.raw"));
  const ready = element("button", { id: "ask", class: "plain" }, say("desks.answer"));
  const preview = element("img", { id: "preview", class: "preview", alt: say("answer.preview"), hidden: "" });
  const typed = element("input", { id: "input" });
  const form = element("form", { id: "asking", class: "asking" }, choice, label, typed, other, cutting, ready);
  const table = element("div", { id: "answers" });
  const best = element("p", { id: "answer", class: "answer", role: "status" });
  const part = section("answer", say("answer.title"), best, table, element("p", { id: "answer-facts", class: "foot" }));
  part.hidden = true;
  const trouble = element("p", { id: "answer-trouble", class: "trouble", role: "alert", hidden: "" });
  const looking = element("div", { id: "looking", hidden: "" });
  const knowing = element("div", { id: "answer-knowing", class: "knowing" });
  byId("answer-desk").append(form, knowing, preview, trouble, part, looking);
  savable(part, "answer", () => shown);
  mountLooking(looking);
  preview.addEventListener("error", () => (preview.hidden = true)); // of what is no picture, as the server says
  choice.addEventListener("change", () => {
    remember({ answerer: choice.value, input: null });
    forgetAnswer(); // which was another model's
    makeField();
    answerAgain();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answerAgain();
  });
}
