// The desk of a classifier, a tagger or a BERT in one file: a text, its answer as it is typed, and what was looked at.

import { remember, wished } from "../parts/address.js";
import { byId, element, percent } from "../parts/common.js";
import { showKnowledge } from "../parts/knowing.js";
import { duration, say } from "../parts/texts.js";
import { layOutAttention, mountAttention, showAttention } from "../views/attention.js";
import { taggedWords } from "../views/tags.js";
import { mountLooking, openTabOf, showOutput } from "./looking.js";
import { Untranslatable } from "./refusing.js";

/** @import { Answer } from "./reading.js" */

const HELD = 150; // milliseconds without a key press before the text is read
const MOST_CLASSES = 10; // classes that are listed, the most probable first

/** @type {Answer} */
let answerTo;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let holding;
let asked = 0; // number of the last question; answers to earlier ones are dropped

/** Answer the text in the field. */
async function answerText() {
  clearTimeout(holding);
  const number = ++asked;
  const text = byId("input").value;
  remember({ input: text || null, raw: byId("raw").checked ? "1" : null });
  const began = performance.now();
  byId("trouble").hidden = true;
  try {
    const found = await answerTo(text, byId("raw").checked);
    if (number !== asked) return;
    for (const part of ["answer-part", "why"]) byId(part).hidden = !found;
    if (!found) return;
    showFound(found.answer);
    byId("answer-facts").textContent = `${duration((performance.now() - began) / 1000)} · onnxruntime int8`;
    showOutput(found.explain);
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    if (number !== asked) return;
    for (const part of ["answer-part", "why"]) byId(part).hidden = true;
    byId("trouble").textContent = say(error.reason, error.values);
    byId("trouble").hidden = false;
  }
}

/** @type {(found: any) => void} */
function showFound(found) {
  byId("answers").hidden = "answers" in found;
  if ("answers" in found) return byId("answer").replaceChildren(taggedWords(found));
  const { answer, probability, probabilities } = found;
  byId("answer").replaceChildren(element("b", {}, answer), ` ${percent(probability)}`);
  const order = Object.entries(probabilities).sort(([, one], [, other]) => other - one);
  const lines = order.slice(0, MOST_CLASSES).map(([name, share]) => shareLine(name, share, name === answer));
  const [rest, count] = [order.slice(MOST_CLASSES), order.length - MOST_CLASSES];
  const shared = rest.reduce((sum, [, share]) => sum + share, 0);
  if (rest.length) lines.push(shareLine(say("next.others", { count }), shared, false));
  byId("answers").replaceChildren(element("table", { class: "bars" }, element("tbody", {}, ...lines)));
}

/** @type {(name: string, share: number, isBest: boolean) => HTMLElement} */
function shareLine(name, share, isBest) {
  const bar = element("div", { class: "bar" }, element("i"), element("span", {}, percent(share)));
  bar.style.setProperty("--share", share.toFixed(5));
  return element("tr", isBest ? { class: "taken" } : {}, element("th", { scope: "row" }, name), element("td", {}, bar));
}

/**
 * Mount the desk of a model of this kind, and answer the text that the address names.
 * @type {(model: any, kind: string, answer: Answer) => void}
 */
export function mountAnsweringDesk(model, kind, answer) {
  answerTo = answer;
  byId("input-title").textContent = say(kind === "tagging" ? "answer.tokens" : "answer.text");
  byId("raw-label").hidden = kind !== "tagging";
  byId("input-hint").textContent = kind === "masked" ? say("onefile.mask_hint") : "";
  mountLooking({ attention: { mount: mountAttention, show: showAttention, layOut: layOutAttention } });
  showKnowledge(byId("knowing"), [model], (text) => {
    byId("input").value = text;
    answerText();
  });
  byId("asking").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  byId("asking").addEventListener("input", () => {
    clearTimeout(holding);
    holding = setTimeout(answerText, HELD);
  });
  const follow = () => {
    const { view, input, raw } = wished();
    openTabOf(view);
    byId("raw").checked = raw === "1";
    byId("input").value = input ?? model.examples[0] ?? "";
    answerText();
  };
  addEventListener("hashchange", follow);
  follow();
}
