// A step of a lesson: its code, fields for its values, a button that runs it, and what it shows.

import { button, element } from "../parts/common.js";
import { say, sayParts } from "../parts/texts.js";
import { showPieces, statusOf } from "./outputs.js";
import { literal, valueField, valueIn } from "./values.js";

/** @import { Piece, StepRun } from "./outputs.js" */
/** @import { Field, StepValue } from "./values.js" */

/** @typedef {{ value?: string, command?: string, parts?: [string, string][] }} CodeLine */
/** @typedef {Record<string, number | string>} Values */
/**
 * @typedef {object} StepPart
 * @property {"step"} kind
 * @property {string} name
 * @property {CodeLine[]} code
 * @property {StepValue[]} values
 * @property {string | null} missing the data set that it needs and that is not here
 * @property {boolean} ran
 * @property {boolean} skipped because its data set was missing
 * @property {Piece[]} recorded
 */

/** A step on the page. */
export class Step {
  /**
   * @param {StepPart} part
   * @param {number} number
   * @param {{ run: (step: Step) => void, stop: () => void }} actions
   */
  constructor(part, number, actions) {
    this.part = part;
    this.number = number;
    this.ran = part.ran;
    this.isSkipped = part.skipped;
    this.isRunning = false;
    const id = `step-${part.name}`;
    /** @type {Field[]} */
    this.fields = [];
    const rows = part.values.map((about, place) => {
      const { row, field } = valueField(`${id}-${place}`, about, () => this.showValues());
      this.fields.push(field);
      return row;
    });
    this.runButton = element("button", { class: "plain run" }, say("course.run"));
    this.stopButton = button({ class: "plain stop", hidden: true }, say("course.stop"));
    this.timer = element("span", { class: "status", role: "timer" });
    this.status = element("span", { class: "status", role: "status" });
    this.form = element("form", { novalidate: true }, ...rows);
    this.form.append(element("p", { class: "acts" }, this.runButton, this.stopButton, this.timer, this.status));
    this.label = element("p", { class: "whose" }, say("course.recorded"));
    const named = { role: "log", "aria-label": say("course.output", { number: String(number) }) };
    this.pieces = element("div", { class: "pieces", ...named });
    this.notes = element("div", { class: "notes", role: "status" });
    this.output = element("div", { class: "output" }, this.label, this.pieces, this.notes);
    const name = element("code", {}, part.name); // by which exercises call it
    const title = element("h3", { id: `${id}-title` }, say("course.step", { number: String(number) }), " ", name);
    const code = element("pre", { class: "code", tabindex: 0 }, element("code", {}, ...part.code.map(codeLine)));
    const box = { class: "step", id, "aria-labelledby": title.id };
    this.box = element("section", box, title, code, ...missingNote(part), this.form, this.output);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      actions.run(this);
    });
    this.stopButton.addEventListener("click", actions.stop);
    this.showValues();
    this.showRecorded();
    if (this.isSkipped) this.status.textContent = say("course.skipped");
  }

  /** The values in the fields; null, with the focus on the field, if one of them is wrong. */
  values() {
    /** @type {Values} */
    const values = {};
    for (const [place, about] of this.part.values.entries()) {
      const value = valueIn(about, this.fields[place]);
      if (value === null) {
        this.fields[place].focus();
        return null;
      }
      values[about.name] = value;
    }
    return values;
  }

  /** Write the values into the lines of the code that set them. */
  showValues() {
    this.part.values.forEach((about, place) => {
      const value = valueIn(about, this.fields[place]);
      const shown = this.box.querySelector(`[data-value="${about.name}"]`);
      if (shown && value !== null) shown.textContent = literal(about, value);
    });
  }

  showRecorded() {
    this.output.classList.add("recorded");
    this.output.hidden = !this.part.recorded.length;
    this.label.hidden = false;
    showPieces(this.pieces, this.part.recorded, this.number);
  }

  /** @param {StepRun} run */
  show(run) {
    if (this.output.classList.contains("recorded")) this.pieces.replaceChildren(); // nothing of it is news
    this.output.classList.remove("recorded");
    this.label.hidden = true;
    this.ran ||= run.status === "done";
    this.isSkipped = !this.ran && (this.isSkipped || run.status === "skipped");
    showPieces(this.pieces, run.pieces, this.number);
    const notes = run.is_cut ? [element("p", {}, say("course.cut"))] : [];
    if (run.fault) notes.push(element("p", { class: "fault" }, run.fault));
    this.notes.replaceChildren(...notes);
    this.output.hidden = !run.pieces.length && !notes.length;
    this.isRunning = run.status === "running";
    this.box.dataset.status = run.status;
    this.status.textContent = this.isRunning ? "" : statusOf(run);
  }

  /**
   * @param {boolean} isBusy whether a step of this lesson is running
   * @param {boolean} isWaiting
   * @param {number} seconds that the step has been running
   */
  showBusy(isBusy, isWaiting, seconds) {
    const runs = isBusy && this.isRunning;
    this.runButton.disabled = isBusy;
    this.stopButton.hidden = !runs;
    this.timer.textContent = runs ? runningFor(seconds) : isWaiting ? say("course.waiting") : "";
    this.status.hidden = isWaiting;
  }
}

/** @param {number} seconds */
const runningFor = (seconds) => {
  return say("course.running", { time: say("time.seconds", { time: String(Math.floor(seconds)) }) });
};

/**
 * A line of code; an empty one still takes its place.
 * @param {CodeLine} line
 */
function codeLine({ value, command, parts }) {
  if (value) {
    const set = element("mark", { "data-value": value });
    return element("span", { class: "line" }, `${value} = `, set, "\n");
  }
  if (command) return element("span", { class: "line command" }, `${command}\n`);
  const spans = (parts ?? []).map(([kind, text]) => (kind ? element("span", { class: kind }, text) : text));
  return element("span", { class: "line" }, ...spans, "\n");
}

/** @param {StepPart} part */
function missingNote({ missing }) {
  if (!missing) return [];
  const command = element("code", {}, `regard data get ${missing}`);
  return [element("p", { class: "note" }, ...sayParts("course.missing", { name: missing, command }))];
}
