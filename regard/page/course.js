// The page of a lesson: its text, steps that run on this machine, and exercises.

import { byId, element } from "./parts/common.js";
import { Exercise } from "./course/exercises.js";
import { elementsOf } from "./course/nodes.js";
import { returnToPlace } from "./course/places.js";
import { Step } from "./course/steps.js";
import { fillTexts } from "./parts/filling.js";
import { ask, get, Refusal } from "./parts/server.js";
import { say } from "./parts/texts.js";

/** @import { ExercisePart } from "./course/exercises.js" */
/** @import { CourseNode } from "./course/nodes.js" */
/** @import { StepRun } from "./course/outputs.js" */
/** @import { StepPart, Values } from "./course/steps.js" */

/** @typedef {{ number: number, title: string, steps: number, ran: number, skipped: number,
 *   exercises: number, solved: number }} Row */
/** @typedef {{ kind: "prose", nodes: CourseNode[] } | StepPart | ExercisePart} Part */
/** @typedef {{ number: number, title: string, parts: Part[], contents: Row[] }} Lesson */
/**
 * @typedef {object} State
 * @property {number} stamp
 * @property {number | null} busy the lesson whose steps are running
 * @property {string[]} waiting
 * @property {number} seconds
 * @property {Record<string, StepRun>} steps
 * @property {string} trouble
 */

const SOON = 250; // milliseconds until the page asks again while a step of its lesson runs
const LATER = 1500; // and while one of another lesson does

const number = Number(location.pathname.split("/").at(-1));
/** @type {Step[]} */
const steps = [];
/** @type {Exercise[]} */
const exercises = [];
/** @type {Row[]} */
let rows = [];
let stamp = 0;
let isWatching = false;

/** @type {(sentence: string) => void} */
function tell(sentence) {
  if (byId("trouble").textContent !== sentence) byId("trouble").textContent = sentence;
  byId("trouble").hidden = !sentence;
}

/**
 * Send something to the server; a refusal is shown.
 * @param {string} path
 * @param {object} question
 */
async function send(path, question) {
  try {
    await ask(path, question, new AbortController().signal);
    tell("");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell(error.message);
  }
  await watch();
}

/** Ask what the steps have shown, again and again while any is running. */
async function watch() {
  if (isWatching) return;
  isWatching = true;
  try {
    for (;;) {
      const busy = await refresh();
      if (busy === null) return;
      await new Promise((resolve) => setTimeout(resolve, busy === number ? SOON : LATER));
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell(error.message);
  } finally {
    isWatching = false;
  }
}

/** Show what has changed, and return the number of the lesson whose steps are running. */
async function refresh() {
  const state = /** @type {State} */ (await get(`state/${number}?after=${stamp}`));
  showState(state);
  return state.busy;
}

/** @param {State} state */
function showState(state) {
  stamp = state.stamp;
  const isBusy = state.busy === number;
  for (const step of steps) {
    const run = state.steps[step.part.name];
    if (run) step.show(run);
    step.showBusy(isBusy, state.waiting.includes(step.part.name), state.seconds);
  }
  byId("run-all").hidden = isBusy;
  byId("stop-all").hidden = !isBusy;
  if (state.trouble) tell(state.trouble);
  showProgress();
}

/** @param {Step[]} chosen */
function run(chosen) {
  /** @type {Record<string, Values>} */
  const values = {};
  for (const step of chosen) {
    const given = step.values();
    if (given === null) return;
    values[step.part.name] = given;
  }
  send("run", { lesson: number, steps: values });
}

const stop = () => send("stop", {});

/**
 * How much of a lesson is done, in words; steps that were skipped are named only where there are any.
 * @param {{ ran: number, skipped: number, steps: number, solved: number, exercises: number }} counts
 */
const countsOf = (counts) => say(counts.skipped ? "course.counts_skipped" : "course.counts", counts);

function showProgress() {
  const ran = steps.filter((step) => step.ran).length;
  const skipped = steps.filter((step) => step.isSkipped).length;
  const solved = exercises.filter((exercise) => exercise.isSolved).length;
  byId("done").max = steps.length + exercises.length;
  byId("done").value = ran + solved;
  const counts = { ran, skipped, steps: steps.length, solved, exercises: exercises.length };
  byId("counts").textContent = countsOf(counts);
  const row = rows.find((each) => each.number === number);
  if (row && (row.ran !== ran || row.skipped !== skipped || row.solved !== solved)) {
    Object.assign(row, { ran, skipped, solved });
    showContents();
  }
}

function showContents() {
  const lines = rows.map((row) => {
    const isDone = row.solved === row.exercises && row.ran === row.steps;
    const current = row.number === number ? { "aria-current": "page" } : {};
    const link = element("a", { href: String(row.number), ...current }, row.title);
    const counts = element("small", {}, isDone ? say("course.finished") : countsOf(row));
    const isBegun = row.ran + row.skipped + row.solved > 0;
    return element("li", { value: row.number }, link, ...(isBegun ? [" ", counts] : []));
  });
  byId("contents").replaceChildren(...lines);
}

/** Links to the lessons before and after this one. */
function showTurning() {
  const place = rows.findIndex((row) => row.number === number);
  const links = [
    { row: rows[place - 1], rel: "prev", name: "course.previous" },
    { row: rows[place + 1], rel: "next", name: "course.next" },
  ].filter(({ row }) => row);
  const made = links.map(({ row, rel, name }) => {
    const title = element("span", {}, `${row.number}. ${row.title}`);
    return element("a", { href: String(row.number), rel }, element("small", {}, say(name)), title);
  });
  byId("turning").replaceChildren(...made);
}

/**
 * @param {Part} part
 * @returns {(string | HTMLElement)[]}
 */
function partOf(part) {
  if (part.kind === "prose") return elementsOf(part.nodes);
  if (part.kind === "step") {
    const step = new Step(part, steps.length + 1, { run: (each) => run([each]), stop });
    steps.push(step);
    return [step.box];
  }
  const exercise = new Exercise(part, exercises.length + 1, checkAnswer, showProgress);
  exercises.push(exercise);
  return [exercise.box];
}

/** @type {(exercise: string, answer: string | string[]) => Promise<any>} */
const checkAnswer = (exercise, answer) => {
  return ask("answer", { lesson: number, exercise, answer }, new AbortController().signal);
};

/** @param {Lesson} lesson */
function show(lesson) {
  rows = lesson.contents;
  document.title = `${number}. ${lesson.title}`;
  byId("number").textContent = say("course.number", { number: String(number) });
  byId("title").textContent = lesson.title;
  byId("course").replaceChildren(...lesson.parts.flatMap(partOf));
  byId("progress").hidden = false;
  showContents();
  showTurning();
  showProgress();
  byId("run-all").addEventListener("click", () => run(steps));
  byId("stop-all").addEventListener("click", stop);
  document.addEventListener("visibilitychange", () => document.hidden || watch());
  for (const kind of ["click", "keyup"]) document.addEventListener(kind, closeContents);
}

/**
 * Close the list of lessons at a click elsewhere, when the focus goes elsewhere, and at the key Escape.
 * @param {Event} event
 */
function closeContents(event) {
  const isAway = event.target instanceof Node && !byId("lessons").contains(event.target);
  if (isAway || (event instanceof KeyboardEvent && event.key === "Escape")) byId("lessons").open = false;
}

/** @param {string} language */
async function keepLanguage(language) {
  try {
    await ask("language", { language }, new AbortController().signal);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell(error.message);
    return false;
  }
  return true;
}

async function begin() {
  fillTexts(keepLanguage);
  try {
    show(await get(`lesson/${number}`));
    await refresh();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell(error.message);
    return;
  }
  returnToPlace(number, [...steps, ...exercises]);
  await watch();
}

begin();
