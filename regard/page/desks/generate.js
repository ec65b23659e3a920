// Writing with language models: a prompt, the likeliest next tokens of each model, and how each continues the prompt.

import { remember, wished, wishedAll } from "../parts/address.js";
import { makeAttending } from "./attending.js";
import { button, byId, element } from "../parts/common.js";
import { showKnowledge } from "../parts/knowing.js";
import { drawingWanted, followSearch, fullnessWanted, searchControls, searchWanted } from "./generate/searching.js";
import { makePassing } from "./passing.js";
import { makeReasoning } from "./reasoning.js";
import { onceSeen } from "../parts/seeing.js";
import { ask, listen, Refusal } from "../parts/server.js";
import { say } from "../parts/texts.js";
import { goOn, makeWriter, readPrompt, stopWriter } from "./generate/writer.js";

/** @import { Model } from "../parts/server.js" */
/** @import { Wire } from "./generate/writer.js" */
/** @import { Panel } from "./folding.js" */

/** @type {Wire} */
const WIRE = {
  read: (question, signal) => ask("v1/prompt", question, signal),
  write: (question, signal, heard) => listen("v1/generate", question, signal, heard),
  isRefusal: (error) => error instanceof Refusal,
};
const PAUSE = 250; // milliseconds without a key press before the prompt is sent
const MOST_AT_FIRST = 3; // models side by side by default

/** @type {Model[]} */
let models = [];
/** @type {any[]} */
let writers = []; // one for each chosen model, side by side
/** @type {{ before: string, after: string }[]} */
let steps = []; // additions to the prompt that can be undone: the text before and after each
/** @type {number | undefined} */
let waiting; // timer for a pause in the typing
/** @type {Panel[]} */
let panels = []; // about the prompt: attention, reasons and the forward pass

/** @type {() => string} */
const prompt = () => byId("prompt").value;

/** Show the state that the address describes. */
export function followGenerating() {
  const wish = wished();
  followSearch(wish);
  chooseModels(wishedAll("writers"));
  if (prompt() !== (wish.prompt ?? "")) steps = [];
  byId("prompt").value = wish.prompt ?? "";
  panels.forEach((panel) => panel.follow());
  onceSeen(byId("generate-desk"), generateAgain);
}

/** Send the prompt to every model. */
export function generateAgain() {
  clearTimeout(waiting);
  remember({ prompt: prompt() || null });
  showState();
  writers.forEach(read);
  panels.forEach((panel) => panel.again());
}

/** @type {(writer: any) => Promise<void>} */
const read = (writer) => readPrompt(writer, prompt(), { ...drawingWanted(), ...fullnessWanted(writer.model) });

/**
 * Let a model continue the prompt; if it has not read the prompt yet, it reads it first.
 * @type {(writer: any) => Promise<void>}
 */
async function write(writer) {
  const wanted = prompt();
  if (writer.prompt !== wanted) await read(writer);
  if (writer.prompt === wanted) await goOn(writer, wanted, { ...searchWanted(), ...fullnessWanted(writer.model) });
}

/**
 * Replace the prompt, as a step that can be undone; ignored if something was typed after the prompt was read.
 * @type {(from: any, text: string, called: string) => void}
 */
function choose(from, text, called) {
  if (from !== prompt()) return;
  steps.push({ before: prompt(), after: text });
  byId("prompt").value = text;
  byId("prompt-told").textContent = say("prompt.added", { text: called });
  generateAgain();
}

/** Undo one step; text typed since the last step counts as a step too. */
function undo() {
  const last = steps[steps.length - 1];
  const wasTyped = prompt() !== last.after;
  byId("prompt").value = wasTyped ? last.after : last.before;
  if (!wasTyped) steps.pop();
  byId("prompt-told").textContent = say("prompt.undone");
  generateAgain();
}

function showState() {
  byId("undo").disabled = !steps.length;
  byId("stop-writing").disabled = !writers.some(({ isWriting }) => isWriting);
}

// Which models are shown side by side

/** @type {(names: string[]) => void} */
function chooseModels(names) {
  const there = models.map(({ name }) => name);
  const wanted = there.filter((name) => names.includes(name));
  const chosen = wanted.length ? wanted : there.slice(0, MOST_AT_FIRST);
  byId("writers-choice").querySelectorAll("input").forEach((/** @type {HTMLInputElement} */ box) => {
    box.checked = chosen.includes(box.value);
  });
  arrangeWriters(chosen);
}

/**
 * Make a panel for each chosen model; panels of models that stay chosen keep their content.
 * @type {(names: string[]) => void}
 */
function arrangeWriters(names) {
  const kept = new Map(writers.map((writer) => [writer.model.name, writer]));
  writers.filter(({ model }) => !names.includes(model.name)).forEach(stopWriter);
  const heard = { chosen: choose, changed: showState, wanted: write };
  const chosen = models.filter(({ name }) => names.includes(name));
  writers = chosen.map((model) => kept.get(model.name) ?? makeWriter(model, heard, WIRE));
  byId("writers").replaceChildren(...writers.map(({ root }) => root));
  panels.forEach((panel) => panel.offer(chosen));
  showKnowledge(byId("generate-knowing"), chosen, (text) => choose(prompt(), text, text));
}

function modelChoice() {
  const boxes = models.map(({ name }) => {
    return element("label", {}, element("input", { type: "checkbox", value: name }), element("span", {}, name));
  });
  const legend = element("legend", {}, say("pair.models"));
  const choice = element("fieldset", { id: "writers-choice" }, legend, ...boxes);
  choice.hidden = models.length < 2;
  choice.addEventListener("change", (/** @type {any} */ { target }) => {
    const boxed = /** @type {NodeListOf<HTMLInputElement>} */ (choice.querySelectorAll("input:checked"));
    const checked = [...boxed].map(({ value }) => value);
    if (!checked.length) target.checked = true; // at least one stays checked
    const names = checked.length ? checked : [target.value];
    const usual = models.slice(0, MOST_AT_FIRST).map(({ name }) => name);
    remember({ writers: String(names) === String(usual) ? null : names });
    arrangeWriters(names);
    generateAgain();
  });
  return choice;
}

/**
 * Mount the desk and list the models that continue a prompt.
 * @type {(served: Model[], limits: Record<string, number>) => void}
 */
export function mountGenerating(served, limits) {
  models = served;
  const field = element("textarea", { id: "prompt", rows: 3, dir: "auto", placeholder: say("prompt.hint") });
  const label = element("label", { for: "prompt" }, say("prompt.title"));
  const go = element("button", { id: "go-on", class: "plain" }, say("prompt.go"));
  const stop = button({ id: "stop-writing", class: "plain", disabled: "" }, say("prompt.stop"));
  const back = button({ id: "undo", class: "plain", disabled: "" }, say("prompt.undo"));
  const told = element("span", { id: "prompt-told", class: "unseen", role: "status" });
  const doing = element("p", { class: "doing" }, go, stop, back, told);
  const search = searchControls(limits, models.some(({ context }) => context), generateAgain);
  const form = element("form", { id: "prompting", class: "prompting" }, label, field, modelChoice(), search, doing);
  const about = element("p", { class: "caption" }, say("prompt.about"));
  const knowing = element("div", { id: "generate-knowing", class: "knowing" });
  const side = element("div", { id: "writers", class: "writers" });
  panels = [makeAttending("prompt", prompt), makeReasoning("prompt", prompt, true), makePassing("prompt", prompt)];
  byId("generate-desk").append(form, knowing, about, side, ...panels.map(({ root }) => root));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    remember({ prompt: prompt() || null });
    writers.forEach(write);
  });
  stop.addEventListener("click", () => writers.forEach(stopWriter));
  back.addEventListener("click", undo);
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(generateAgain, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}
