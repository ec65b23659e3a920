// Why a model writes or answers so: the choice of a method, and a panel of a desk that asks about what is typed there.

import { remember, wished } from "../parts/address.js";
import { element } from "../parts/common.js";
import { ask, Refusal } from "../parts/server.js";
import { say } from "../parts/texts.js";
import { addTrust, methodName, mountReasons, showReasons } from "../views/reasons.js";
import { explainableWords } from "../views/reasons/scores.js";
import { makeFolding } from "./folding.js";

/** @import { Choice } from "../views/reasons.js" */
/** @import { Load, Panel } from "./folding.js" */
/** @import { Model } from "../parts/server.js" */
/** @typedef {{ root: HTMLElement, follow: () => void, wanted: () => Record<string, any> }} MethodChoice */

const TYPED = ["text", "tokens", "items", "story", "sequence", "nodes", "prompt"]; // inputs that are typed
const USUAL = "integrated-gradients";
const METHODS = [
  "attention", "rollout", "flow", "gradient", "input-x-gradient", USUAL, "occlusion", "leave-one-out", "all",
  "lens", "patching", "heads", "units",
];

/**
 * The controls for the method; `changed` is called when a person chooses another. Names in the address begin with
 * `name`.
 * @type {(name: string, changed: () => void) => MethodChoice}
 */
export function makeMethodChoice(name, changed) {
  const choice = element("select", { id: `${name}-method` });
  choice.append(...METHODS.map((value) => element("option", { value }, methodName(value))));
  const from = element("input", { id: `${name}-from`, type: "text", autocomplete: "off", dir: "auto" });
  from.placeholder = say("reasons.from_hint");
  const other = element("label", { class: "worded", hidden: "" }, say("reasons.from"), " ", from);
  const label = element("label", { class: "worded" }, say("reasons.method"), " ", choice);
  const root = element("p", { class: "asking reason-method" }, label, other);
  const settle = () => (other.hidden = choice.value !== "patching");
  const change = () => {
    settle();
    const isUsual = choice.value === USUAL;
    const given = other.hidden ? null : from.value || null;
    remember({ [`${name}-method`]: isUsual ? null : choice.value, [`${name}-from`]: given });
    changed();
  };
  choice.addEventListener("change", change);
  from.addEventListener("change", change);
  return {
    root,
    follow: () => {
      const wish = wished();
      const method = wish[`${name}-method`];
      choice.value = METHODS.includes(method) ? method : USUAL;
      from.value = wish[`${name}-from`] ?? "";
      settle();
    },
    wanted: () => {
      if (choice.value !== "patching") return { method: choice.value };
      if (!from.value.trim()) throw new Refusal(say("reasons.from_empty"));
      return { method: "patching", from: from.value };
    },
  };
}

/**
 * The panel of a desk. `textOf` returns what is typed; the words of a text that a model continues (`continues`) can be
 * explained by the words before them, and those of other models by what the answer offers.
 * @type {(name: string, textOf: () => string, continues: boolean) => Panel}
 */
export function makeReasoning(name, textOf, continues) {
  const says = { page: say("reasons.page"), about: say("reasons.about"), empty: say("reasons.empty") };
  /** @type {(model: Model) => boolean} */
  const offers = ({ can, reads }) => can.includes("why") && TYPED.includes(reads);
  /** @type {Panel} */
  const panel = makeFolding(`${name}-why`, says, textOf, offers, load);
  const method = makeMethodChoice(`${name}-why`, panel.again);
  panel.holder.before(method.root);
  /** @type {{ text: string, place: number | null }} */
  let chosen = { text: "", place: null }; // what is explained in which text
  const choose = (/** @type {number | null} */ place) => {
    chosen = { ...chosen, place };
    panel.again();
  };
  const view = mountReasons(panel.holder, `${name}-reasons`, choose);

  /** @type {Load} */
  async function load(model, text, signal) {
    if (chosen.text !== text) chosen = { text, place: null };
    const { place } = chosen;
    const about = continues ? continued(text, place) : placed(model.reads === "nodes" ? Number(text) : text, place);
    const question = { model: model.name, ...about, ...method.wanted() };
    const found = await ask("v1/why", question, signal);
    signal.throwIfAborted();
    panel.holder.hidden = false;
    showReasons(view, found, continues ? promptChoices(text, place, choose) : null);
    const measured = found.maps.length ? await ask("v1/why", { ...question, trust: true }, signal) : found;
    return () => addTrust(view, measured);
  }

  return {
    ...panel,
    follow: () => {
      panel.follow();
      method.follow();
    },
  };
}

/** @type {(input: any, place: number | null) => object} */
const placed = (input, place) => (place === null ? { input } : { input, place: place + 1 });

/**
 * The question about a text that is continued: why this word of it began, or why the next token.
 * @type {(text: string, place: number | null) => object}
 */
function continued(text, place) {
  const found = place === null ? undefined : explainableWords(text)[place];
  if (!found) return { input: text };
  return { input: text.slice(0, found.start).trimEnd(), output: found.word, place: 1 };
}

/** @type {(text: string, place: number | null, choose: (place: number | null) => void) => Choice[]} */
function promptChoices(text, place, choose) {
  const words = explainableWords(text).map(({ word }, at) => ({
    label: word,
    isChosen: at === place,
    choose: () => choose(at),
  }));
  return [...words, { label: say("reasons.next"), isChosen: place === null, choose: () => choose(null) }];
}
