// Words and their vectors: the neighbours of one word, or what is to a third word as a second is to a first.

import { remember, wished } from "./address.js";
import { button, byId, element, section, signed } from "./common.js";
import { savable } from "./saving.js";
import { ask, Refusal } from "./server.js";
import { duration, say, sayParts } from "./texts.js";

const COUNT = 15; // words that are shown
const OTHERS = ["like", "as"]; // the fields of an analogy, beside that of the word

let models = [];
let controller = null;
let shown = null; // the answer that is shown

const model = () => models.find(({ name }) => name === byId("lexicon").value) ?? models[0];
const valueIn = (id) => byId(id).value.trim();

/** Show what the address asks for. */
export function followNeighbouring() {
  const wish = wished();
  if (models.some(({ name }) => name === wish.lexicon)) byId("lexicon").value = wish.lexicon;
  for (const id of ["word", ...OTHERS]) byId(id).value = wish[id] ?? "";
  if (wish.word) neighbourAgain();
}

/** Ask for what is in the fields; what was asked for before and did not come yet is forgotten. */
export async function neighbourAgain() {
  const word = valueIn("word");
  const [like, as] = OTHERS.map(valueIn);
  if (!word) return;
  controller?.abort();
  controller = new AbortController();
  const { signal } = controller;
  remember({ word, like: like || null, as: as || null });
  byId("words-trouble").hidden = true;
  try {
    if (Boolean(like) !== Boolean(as)) throw new Refusal(say("words.three"));
    byId("words-part").setAttribute("aria-busy", true);
    const common = { model: model().name, count: COUNT };
    const found = like
      ? await ask("v1/analogy", { ...common, a: like, b: as, c: word }, signal)
      : await ask("v1/neighbours", { ...common, words: [word] }, signal);
    if (!signal.aborted) showWords(found, like ? { like, as, word: found.words[2] } : null);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Refusal)) throw error;
    byId("words-trouble").textContent = error.message;
    byId("words-trouble").hidden = false;
  } finally {
    if (!signal.aborted) byId("words-part").removeAttribute("aria-busy");
  }
}

function showWords(found, analogy) {
  shown = found;
  const { word, neighbours } = analogy ? found : found.words[0];
  const best = element("b", {}, word);
  const title = analogy ? sayParts("words.analogy", { ...analogy, best }) : sayParts("words.nearest", { word: best });
  byId("words-title-line").replaceChildren(...title);
  byId("words-near").tBodies[0].replaceChildren(...neighbours.map(neighbourLine));
  byId("words-facts").textContent = `${duration(found.seconds)} · ${found.model}`;
  byId("words-part").hidden = false;
}

function neighbourLine([word, cosine]) {
  const bar = element("div", { class: "bar" }, element("i"), element("span", {}, signed(cosine)));
  bar.style.setProperty("--share", Math.max(cosine, 0).toFixed(5));
  const name = button({ class: "word-link", "data-word": word }, word);
  return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, bar));
}

/** Make room for the desk, and offer the models that have word vectors. */
export function mountNeighbouring(served) {
  models = served;
  const choice = element("select", { id: "lexicon", "aria-label": say("words.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  const field = (id, title, more = {}) => {
    const input = element("input", { id, type: "text", autocomplete: "off", dir: "auto", ...more });
    return element("label", { class: "worded" }, title, input);
  };
  const hint = { placeholder: say("words.hint") };
  const related = OTHERS.map((id) => field(id, say(`words.${id}`), hint));
  const fields = [field("word", say("words.word"), { required: "" }), ...related];
  const go = element("button", { class: "plain" }, say("desks.neighbours"));
  const form = element("form", { id: "wording", class: "asking" }, choice, ...fields, go);
  const table = element("table", { id: "words-near", class: "bars" }, element("tbody"));
  const line = element("p", { id: "words-title-line", class: "answer", role: "status" });
  const part = section("words", say("words.title"), line, table, element("p", { id: "words-facts", class: "foot" }));
  part.hidden = true;
  const trouble = element("p", { id: "words-trouble", class: "trouble", role: "alert", hidden: "" });
  byId("words-desk").append(form, trouble, part);
  savable(part, "words", () => shown);
  choice.addEventListener("change", () => {
    remember({ lexicon: choice.value });
    neighbourAgain();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    neighbourAgain();
  });
  table.addEventListener("click", ({ target }) => {
    if (target.dataset?.word === undefined) return;
    byId("word").value = target.dataset.word;
    OTHERS.forEach((id) => (byId(id).value = ""));
    neighbourAgain();
  });
}
