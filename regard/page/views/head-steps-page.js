// The page of `regard show attention`: the stages of one head, one after another, as matrices that can be played.

import { remember, wished } from "../parts/address.js";
import { button, byId, element, section, spokenToken } from "../parts/common.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { savable } from "../parts/saving.js";
import { numberTable } from "../parts/numbers.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { NumberTable } from "../parts/numbers.js" */
/** @typedef {NumberTable & { name: string, formula: string, width: number }} Stage */

const PACE = 2500; // milliseconds of a stage

/** @type {{ text: string, side: string, layer: number, head: number, query: string, stages: Stage[] }} */
const data = enclosed();
let shown = 1; // the stage, counted from 1
/** @type {number | undefined} */
let playing; // the timer, while it plays

openPlainPage(say("steps.page"), data.text);
byId("views").append(
  element("p", { class: "caption" }, headName()),
  stagePart(),
  allParts(),
);
settle(wished());
followAddress(settle);

/** The head that is shown, and its query. */
function headName() {
  const { layer, head } = data;
  const query = spokenToken(data.query);
  if (!layer) return say("steps.example", { query });
  if (!data.side) return say("steps.head", { layer, head, query });
  return say("steps.side_head", { side: say(`sides.${data.side}`), layer, head, query });
}

/** The stage that is shown, under its controls. */
function stagePart() {
  const play = button({ id: "steps-play", class: "plain" }, say("slots.play"));
  const back = button({ id: "steps-back", class: "plain" }, say("steps.back"));
  const next = button({ id: "steps-next", class: "plain" }, say("steps.next"));
  const bounds = { min: 1, max: data.stages.length, value: 1 };
  const range = element("input", { id: "steps-range", type: "range", ...bounds, "aria-label": say("steps.range") });
  const controls = element("div", { class: "playing unsaved" }, play, back, next, range);
  const stage = element("div", { id: "steps-stage", "aria-live": "polite" });
  const part = section("steps", say("steps.told", { step: 1, count: data.stages.length }), controls, stage);
  savable(part, () => `stage-${shown}`, () => data.stages[shown - 1]);
  play.addEventListener("click", () => (playing ? pause() : start()));
  back.addEventListener("click", () => turn(shown - 1));
  next.addEventListener("click", () => turn(shown + 1));
  range.addEventListener("input", () => turn(Number(range.value)));
  return part;
}

/** All stages at once, to choose from. */
function allParts() {
  const items = data.stages.map(({ name, formula }, place) => {
    const go = button({ class: "stage-link", "data-stage": place + 1 }, say(`stages.${name}`));
    go.addEventListener("click", () => turn(place + 1));
    return element("li", {}, go, " ", element("code", {}, formula));
  });
  return section("all-steps", say("steps.all"), element("ol", { class: "stage-list" }, ...items));
}

/**
 * Show a stage that was chosen by hand, and say so in the address.
 * @type {(step: number) => void}
 */
function turn(step) {
  pause();
  settle({ step });
  remember({ step: shown });
}

/** @param {Wish} wish */
function settle({ step }) {
  shown = Math.min(Math.max(1, Math.round(Number(step)) || 1), data.stages.length);
  const stage = data.stages[shown - 1];
  byId("steps-title").textContent = say("steps.told", { step: shown, count: data.stages.length });
  byId("steps-range").value = shown;
  byId("steps-back").disabled = shown === 1;
  byId("steps-next").disabled = shown === data.stages.length;
  const heading = element("h3", { class: "stage-title" }, say(`stages.${stage.name}`));
  const formula = element("p", { class: "formula" }, element("code", {}, stage.formula));
  const about = element("p", { class: "caption" }, say(`stages_about.${stage.name}`));
  const cut = stage.columns.length < stage.width;
  const counts = { shown: stage.columns.length, count: stage.width };
  const rest = element("p", { class: "hint" }, cut ? say("steps.columns", counts) : "");
  byId("steps-stage").replaceChildren(heading, formula, about, numberTable(stage), rest);
  document.querySelectorAll("[data-stage]").forEach((link, place) => {
    link.setAttribute("aria-current", place + 1 === shown ? "step" : "false");
  });
}

function pause() {
  clearInterval(playing);
  playing = undefined;
  byId("steps-play").textContent = say("slots.play");
}

function start() {
  if (shown === data.stages.length) settle({ step: 1 });
  byId("steps-play").textContent = say("slots.pause");
  playing = setInterval(() => {
    settle({ step: shown + 1 });
    if (shown === data.stages.length) pause();
  }, PACE);
}
