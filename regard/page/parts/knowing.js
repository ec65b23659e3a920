// Facts about models: description, training data, size and scores; also texts to try.

import { button, element } from "./common.js";
import { inPageLanguage } from "./refusals.js";
import { decimal, isSaid, say, sayParts } from "./texts.js";

/** @typedef {{ metric: string, value: number, split: string }} Score */
/**
 * @typedef {object} Known the server's description of a model
 * @property {string} name
 * @property {string} reads
 * @property {string} description
 * @property {string[]} [examples]
 * @property {number} [parameters]
 * @property {{ unit: string, count: number } | null} [amount]
 * @property {string[]} [data]
 * @property {Score[]} [scores]
 * @property {string} [best_by]
 * @property {{ validated: boolean } | null} [hardly_trained]
 * @property {string | null} [card]
 */

// The first of these that exists is shown if the weights were chosen by a loss or by none of the scores.
const METRICS = ["bleu", "accuracy", "f1", "chrf", "perplexity", "error"];
const NO_TEXT = ["nodes", "picture", "video", "sound", "drawing", "words"]; // kinds of input that are not text

/**
 * Show facts about models, and texts to try; `take` is called with a chosen text.
 * @type {(holder: HTMLElement, models: Known[], take: (text: string) => void) => void}
 */
export function showKnowledge(holder, models, take) {
  const examples = models.find(({ examples: own }) => own?.length)?.examples ?? [];
  const tries = examples.map((text) => {
    const chosen = button({ class: "plain example", dir: "auto" }, text);
    chosen.addEventListener("click", () => take(text));
    return chosen;
  });
  const trying = tries.length ? [say("knowing.try"), ...tries] : [say("knowing.no_examples")];
  const offered = element("p", { class: "trying" }, ...trying.flatMap((part, place) => (place ? [" ", part] : [part])));
  const isOfText = models.some(({ reads }) => !NO_TEXT.includes(reads));
  holder.replaceChildren(...models.map(paragraph), ...(isOfText ? [offered] : []));
}

/** @type {(model: Known) => HTMLParagraphElement} */
function paragraph(model) {
  const { name, parameters } = model;
  const description = inPageLanguage(model.description, "descriptions");
  const knows = { model: element("b", {}, name), description: element("span", { dir: "auto" }, description) };
  const sentences = [learntFrom(model), parameters && say("knowing.parameters", { count: parameters }), score(model)];
  const facts = sentences.filter(Boolean).join(" ");
  const warned = description ? ` ${say("knowing.elsewhere")}` : "";
  const said = description ? sayParts("knowing.knows", knows) : [knows.model];
  const hardly = caution(model);
  const cautioned = hardly ? [" ", element("strong", {}, hardly)] : [];
  const card = model.card ? [" ", element("a", { class: "card", href: model.card }, say("knowing.card"))] : [];
  return element("p", {}, ...said, warned, ...cautioned, facts ? element("small", {}, ` ${facts}`) : "", ...card);
}

/**
 * The training data of a model, as far as its folder records it.
 * @type {(model: Known) => string}
 */
function learntFrom({ amount, data }) {
  const names = (data ?? []).join(", ");
  const counted = amount ? say(`knowing.${amount.unit}`, { count: amount.count }) : "";
  if (counted && names) return say("knowing.learnt_names", { amount: counted, names });
  if (counted) return say("knowing.learnt", { amount: counted });
  return names ? say("knowing.names", { names }) : "";
}

/**
 * A warning about a model that has hardly been trained.
 * @type {(model: Known) => string}
 */
function caution({ hardly_trained: course }) {
  if (!course) return "";
  return say(course.validated ? "knowing.hardly" : "knowing.hardly_unvalidated", course);
}

/**
 * The score by which the weights were chosen, or else the most informative one, on test or validation data.
 * @type {(model: Known) => string}
 */
function score({ scores = [], best_by: chosen }) {
  const isScored = chosen && chosen !== "loss" && scores.some(({ metric }) => metric === chosen);
  /** @type {(metric: string) => (score: Score) => boolean} */
  const isKept = (metric) => (score) => score.metric === metric && isFinite(score.value);
  const order = (isScored ? [chosen] : METRICS).flatMap((metric) => scores.filter(isKept(metric)));
  const best = order.find(({ split }) => split === "test") ?? order.find(({ split }) => split === "valid");
  if (!best) return "";
  const value = decimal(best.value, best.value < 10 ? 2 : 1);
  const metric = isSaid(`metrics.${best.metric}`) ? say(`metrics.${best.metric}`) : best.metric;
  return say(`knowing.score_${best.split}`, { metric, value });
}
