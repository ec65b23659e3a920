// Drawing: a sheet of paper on which a person starts a drawing and a model continues it, or a picture that the model
// draws alone, with or without a text that describes it.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { button, byId, element, section } from "../parts/common.js";
import { addDrawn, clearPaper, makePaper, ownStrokes, ROOM, undoStroke } from "../parts/paper.js";
import { ask } from "../parts/server.js";
import { decimal, duration, say } from "../parts/texts.js";

/** @import { Paper, Stroke } from "../parts/paper.js" */
/** @import { Model } from "../parts/server.js" */

const LARGEST_SEED = 2 ** 31;

/** @type {Model[]} */
let models = [];
/** @type {Paper} */
let paper;

const asking = oneAtATime("draw-part", "draw-trouble");
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("drawer").value) ?? models[0];
const drawsStrokes = () => model().reads === "drawing";
const readsText = () => model().reads === "text";

/** Show the state that the address describes. */
export function followDrawing() {
  const { drawer } = wished();
  if (models.some(({ name }) => name === drawer)) byId("drawer").value = drawer;
  takeModel();
}

function takeModel() {
  asking.forget();
  byId("drawn-facts").textContent = "";
  const ofStrokes = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#draw-desk .of-strokes"));
  for (const each of ofStrokes) each.hidden = !drawsStrokes();
  byId("draw-prompt").hidden = !readsText();
  byId("draw-nothing").textContent = say(readsText() ? "draw.paint" : "draw.nothing");
  byId("draw-count-label").hidden = drawsStrokes();
  byId("drawn-pictures").hidden = true;
  if (drawsStrokes()) clearPaper(paper, ROOM * model().extent);
  offerButtons();
}

/** Enable the buttons that continue or undo if there is something to continue or undo. */
function offerButtons() {
  byId("draw-on").disabled = !paper.own.length;
  byId("draw-undo").disabled = !paper.own.length && !paper.added.length;
}

/** The person drew or undid a stroke, so a pending continuation of the earlier drawing is dropped. */
function beginAnew() {
  asking.forget();
  offerButtons();
}

/** Repeat the last request: a continuation if there are strokes to continue. */
export function drawAgain() {
  return drawFrom(drawsStrokes() && paper.own.length ? ownStrokes(paper) : null);
}

/**
 * Let the model draw, from nothing or continuing strokes; an earlier request that is still pending is cancelled.
 * @type {(strokes: Stroke[] | null) => Promise<void>}
 */
async function drawFrom(strokes) {
  /** @type {Record<string, unknown>} */
  const question = { model: model().name, seed: Math.floor(Math.random() * LARGEST_SEED) };
  if (drawsStrokes()) question.temperature = Number(byId("draw-temperature").value);
  else question.count = Number(byId("draw-count").value);
  if (readsText()) question.prompt = byId("draw-prompt").value;
  if (strokes) question.complete = strokes;
  await asking.attempt(async (signal) => {
    const found = await ask("v1/draw", question, signal);
    if (!signal.aborted) showDrawn(found);
  });
}

/** @type {(found: any) => void} */
function showDrawn({ model: name, seconds, drawings }) {
  if (drawsStrokes()) {
    const { strokes, begun } = drawings[0].drawing;
    if (!begun) clearPaper(paper);
    addDrawn(paper, strokes, begun);
    const points = strokes.flat().length - begun;
    byId("drawn-facts").textContent = `${say("draw.added", { points })} · ${duration(seconds)} · ${name}`;
  } else {
    const shown = drawings.map((/** @type {any} */ { animation }) =>
      element("img", { class: "preview", alt: say("draw.picture"), src: `data:image/gif;base64,${animation}` }),
    );
    byId("drawn-pictures").replaceChildren(...shown);
    byId("drawn-pictures").hidden = false;
    byId("drawn-facts").textContent = `${duration(seconds)} · ${name}`;
  }
  offerButtons();
}

/**
 * Mount the desk and list the models that draw.
 * @type {(served: Model[]) => void}
 */
export function mountDrawing(served) {
  models = served;
  const choice = element("select", { id: "drawer", "aria-label": say("draw.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  paper = makePaper("paper", say("draw.paper"), beginAnew);
  const nothing = button({ id: "draw-nothing", class: "plain" }, say("draw.nothing"));
  const on = button({ id: "draw-on", class: "plain of-strokes" }, say("draw.on"));
  const undo = button({ id: "draw-undo", class: "plain of-strokes" }, say("draw.undo"));
  const clear = button({ id: "draw-clear", class: "plain of-strokes" }, say("draw.clear"));
  const range = { id: "draw-temperature", type: "range", min: "0.1", max: "1.5", step: "0.1", value: "0.7" };
  const temperature = element("input", range);
  const shown = element("output", { for: "draw-temperature" }, decimal(0.7, 1));
  const heat = element("label", { class: "worded of-strokes" }, say("draw.temperature"), temperature, shown);
  const wanted = say("draw.prompt");
  const prompt = element("input", { id: "draw-prompt", dir: "auto", "aria-label": wanted, placeholder: wanted });
  const count = element("input", { id: "draw-count", type: "number", min: "1", max: "16", value: "4" });
  const several = element("label", { id: "draw-count-label", class: "worded" }, say("draw.count"), count);
  const tools = element("div", { class: "asking" }, choice, prompt, several, on, nothing, undo, clear, heat);
  const hint = element("p", { class: "foot of-strokes" }, say("draw.hint"));
  const pictures = element("div", { id: "drawn-pictures", class: "previews", hidden: "" });
  const sheet = element("div", { class: "sheet of-strokes" }, paper.root);
  const facts = element("p", { id: "drawn-facts", class: "foot", role: "status" });
  const trouble = element("p", { id: "draw-trouble", class: "trouble", role: "alert", hidden: "" });
  byId("draw-desk").append(tools, trouble, section("draw", say("draw.title"), hint, sheet, pictures, facts));
  choice.addEventListener("change", () => {
    remember({ drawer: choice.value });
    takeModel();
  });
  temperature.addEventListener("input", () => (shown.textContent = decimal(Number(temperature.value), 1)));
  on.addEventListener("click", () => drawFrom(ownStrokes(paper)));
  nothing.addEventListener("click", () => drawFrom(null));
  prompt.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) drawFrom(null);
  });
  undo.addEventListener("click", () => {
    undoStroke(paper);
    beginAnew();
  });
  clear.addEventListener("click", takeModel);
}
