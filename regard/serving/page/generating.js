// Generating: a prompt, how it is gone on with, and the texts that came of it.

import { remember, wished } from "./address.js";
import { byId, element, percent, section, signed } from "./common.js";
import { savable } from "./saving.js";
import { ask, Refusal } from "./server.js";
import { duration, say } from "./texts.js";

// The options, each with its bounds and what it is unless someone says otherwise.
const OPTIONS = {
  tokens: { usual: 50, min: 1, step: 1 },
  samples: { usual: 1, min: 1, step: 1 },
  temperature: { usual: 1, min: 0, step: 0.05 },
  top_k: { usual: 0, min: 0, step: 1 },
  top_p: { usual: 1, min: 0.01, step: 0.01 },
  seed: { usual: 1, min: 0, step: 1 },
};
const DRAWING = ["temperature", "top_k", "top_p", "seed"];

let models = [];
let controller = null;
let shown = null; // the texts that are shown

const model = () => models.find(({ name }) => name === byId("writer").value) ?? models[0];
const valueOf = (name) => {
  const { value } = byId(`generate-${name}`);
  return value === "" ? OPTIONS[name].usual : Number(value);
};

/** Show what the address asks for. */
export function followGenerating() {
  const wish = wished();
  if (models.some(({ name }) => name === wish.writer)) byId("writer").value = wish.writer;
  for (const [name, { usual }] of Object.entries(OPTIONS)) byId(`generate-${name}`).value = wish[name] ?? usual;
  if (wish.prompt === undefined) return;
  byId("prompt").value = wish.prompt;
  generateAgain();
}

/** Go on with what is in the field; what was asked for before and did not come yet is forgotten. */
export async function generateAgain() {
  controller?.abort();
  controller = new AbortController();
  const { signal } = controller;
  const prompt = byId("prompt").value;
  const changed = ([name, { usual }]) => [name, valueOf(name) === usual ? null : valueOf(name)];
  remember({ prompt, ...Object.fromEntries(Object.entries(OPTIONS).map(changed)) });
  byId("generate-trouble").hidden = true;
  byId("generate-part").setAttribute("aria-busy", true);
  const sample = Object.fromEntries(DRAWING.map((name) => [name, valueOf(name)]));
  const question = { model: model().name, prompt, tokens: valueOf("tokens"), samples: valueOf("samples"), sample };
  try {
    const found = await ask("v1/generate", question, signal);
    if (!signal.aborted) showTexts(found);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Refusal)) throw error;
    byId("generate-trouble").textContent = error.message;
    byId("generate-trouble").hidden = false;
  } finally {
    if (!signal.aborted) byId("generate-part").removeAttribute("aria-busy");
  }
}

function showTexts(found) {
  shown = found;
  byId("texts").replaceChildren(...found.texts[0].map(textLine));
  byId("generate-facts").textContent = `${duration(found.seconds)} · ${found.model}`;
  byId("generate-part").hidden = false;
}

/** A text: the prompt, what was written after it, and how probable each token of that is. */
function textLine({ prompt, text, score, tokens, token_scores: scores }) {
  const after = text.startsWith(prompt) ? text.slice(prompt.length) : text;
  const written = element("span", { class: "continued" }, after);
  written.title = tokens.map((token, place) => `${token} ${percent(Math.exp(scores[place]))}`).join(", ");
  const scored = score === null ? "" : element("small", {}, ` ${say("panel.score", { score: signed(score) })}`);
  const before = element("span", { class: "prompted" }, text.slice(0, text.length - after.length));
  return element("li", { dir: "auto" }, before, written, scored);
}

function optionField(name, limits) {
  const { usual, ...bounds } = OPTIONS[name];
  const most = limits[name] === undefined ? {} : { max: limits[name] };
  const field = element("input", { id: `generate-${name}`, type: "number", value: usual, ...bounds, ...most });
  return element("label", { class: "number" }, say(`generate.${name}`), field);
}

/** Make room for the desk, and offer the models that go on with a prompt. */
export function mountGenerating(served, limits) {
  models = served;
  const choice = element("select", { id: "writer", "aria-label": say("generate.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  const field = element("textarea", { id: "prompt", rows: 2, dir: "auto", placeholder: say("generate.hint") });
  const label = element("label", { for: "prompt" }, say("generate.prompt"));
  const options = Object.keys(OPTIONS).map((name) => optionField(name, limits));
  const legend = element("legend", {}, say("next.sampling"));
  const group = element("fieldset", { class: "numbers-row" }, legend, ...options);
  const go = element("button", { class: "plain" }, say("generate.go"));
  const form = element("form", { id: "prompting", class: "prompting" }, choice, label, field, group, go);
  const texts = element("ol", { id: "texts", role: "status" });
  const part = section("generate", say("generate.title"), texts, element("p", { id: "generate-facts", class: "foot" }));
  part.hidden = true;
  const trouble = element("p", { id: "generate-trouble", class: "trouble", role: "alert", hidden: "" });
  byId("generate-desk").append(form, trouble, part);
  savable(part, "texts", () => shown);
  choice.addEventListener("change", () => remember({ writer: choice.value }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    generateAgain();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    form.requestSubmit();
  });
}
