// Answering: an input, the answers with their probabilities, and below them what the model attended to.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { makeAttending } from "./attending.js";
import { byId, element, percent, section } from "../parts/common.js";
import { encoded } from "../parts/encoding.js";
import { showKnowledge } from "../parts/knowing.js";
import { mountLooking, showLooking } from "./answer/looking.js";
import { makePassing } from "./passing.js";
import { makeReasoning } from "./reasoning.js";
import { remarkInPageLanguage } from "../parts/refusals.js";
import { savable } from "../parts/saving.js";
import { ask } from "../parts/server.js";
import { makeSketchField, sketched } from "./answer/sketching.js";
import { taggedWords } from "../views/tags.js";
import { duration, say } from "../parts/texts.js";

/** @import { Attributes } from "../parts/common.js" */
/** @import { Model } from "../parts/server.js" */
/** @import { Panel } from "./folding.js" */

const SHOWN = 10; // answers, the most probable first
// The kind of input a model reads -> the attributes of the field for it.
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
let shown = null; // the displayed answer
/** @type {Panel[]} */
let panels = []; // about the text: attention, reasons and the forward pass

const hideAnswer = () => ["answer-part", "looking"].forEach((part) => (byId(part).hidden = true));
const asking = oneAtATime("answer-part", "answer-trouble", hideAnswer);
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("answerer").value) ?? models[0];
/** @type {(model: Model) => string} */
const kindOfField = ({ reads }) => (reads === "drawing" || Object.hasOwn(FIELDS, reads) ? reads : "text");

/** Show the state that the address describes. */
export function followAnswering() {
  const { answerer, input } = wished();
  if (models.some(({ name }) => name === answerer)) byId("answerer").value = answerer;
  makeField();
  panels.forEach((panel) => panel.follow());
  if (["picture", "drawing"].includes(model().reads) || input === undefined) return forgetAnswer();
  fillField(input);
  answerAgain();
}

/**
 * Put an input into its field; the second text of a pair goes into the second field.
 * @type {(input: string) => void}
 */
function fillField(input) {
  const [first, second] = model().pairs ? input.split("\t") : [input];
  [byId("input").value, byId("second").value] = [first, second ?? ""];
}

/** Build the input field for the chosen model. */
function makeField() {
  const kind = kindOfField(model());
  byId("input-title").textContent = say(`answer.${kind}`);
  for (const name of ["input-title", "ask"]) byId(name).hidden = kind === "drawing"; // sent after each stroke
  byId("raw-label").hidden = model().reads !== "tokens";
  byId("second-label").hidden = !model().pairs;
  panels.forEach((panel) => panel.offer([model()]));
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
 * Set up a field with several lines: Enter ends a fact, and after a question it submits.
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

/** The text of the field, or both texts of a pair; nothing while one is missing. */
function typedText() {
  const { value } = byId("input");
  if (!model().pairs) return String(value ?? "");
  return value && byId("second").value && `${value}\t${byId("second").value}`;
}

/** The content of the field in the server's format, or nothing if it is empty. */
async function given() {
  if (model().reads === "drawing") return sketched();
  const field = byId("input");
  if (model().pairs) return typedText();
  if (field.type !== "file") return field.type === "number" && field.value ? Number(field.value) : field.value;
  const [file] = field.files;
  showPreview(file ?? null);
  if (!file) return "";
  return { picture: await encoded(file, limits.picture, "answer.too_large") };
}

/** Ask for the answer to the input; an earlier request that is still pending is cancelled. */
export async function answerAgain() {
  const asked = model();
  panels.forEach((panel) => panel.again());
  await asking.attempt(async (signal) => {
    const input = await given();
    if (signal.aborted) return;
    if (input === "") return hideAnswer(); // the displayed answer belongs to another input
    if (typeof input !== "object") remember({ input });
    /** @type {Record<string, object>} */
    const manners = { tokens: { raw: byId("raw").checked }, text: { unfold: true } };
    const manner = manners[asked.reads];
    const found = await ask("v1/answer", { model: asked.name, inputs: [input], ...manner }, signal);
    if (signal.aborted) return;
    byId("looking").hidden = true; // it belongs to the previous input
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
  const remark = answer.remark ? ` · ${remarkInPageLanguage(answer.remark)}` : "";
  byId("answer-facts").textContent = `${duration(found.seconds)} · ${found.model}${remark}`;
  byId("answer-part").hidden = false;
}

/**
 * The part of a text that the question is about: the part in brackets.
 * @type {(text: string) => string}
 */
const aspectOf = (text) => /\[([^[\]]+)\]/.exec(text)?.[1] ?? text;

/**
 * The best class of each answer on one line, with all probabilities below; if there are aspects, for each of them.
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
 * Mount the desk and list the models that answer.
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
  panels = [
    makeAttending("input", typedText),
    makeReasoning("input", typedText, false),
    makePassing("input", () => String(byId("input").value ?? "")),
  ];
  byId("answer-desk").append(form, knowing, preview, trouble, part, looking, ...panels.map(({ root }) => root));
  savable(part, "answer", () => shown);
  mountLooking(looking);
  preview.addEventListener("error", () => (preview.hidden = true)); // not a picture; the server says so too
  choice.addEventListener("change", () => {
    remember({ answerer: choice.value, input: null });
    forgetAnswer(); // it came from another model
    makeField();
    answerAgain();
  });
  form.addEventListener("input", () => panels.forEach((panel) => panel.typed()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answerAgain();
  });
}
