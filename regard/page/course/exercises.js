// An exercise: a question, a field or choices for the answer, and what is said to it.

import { element } from "../parts/common.js";
import { Refusal } from "../parts/server.js";
import { say } from "../parts/texts.js";
import { elementsOf } from "./nodes.js";

/** @import { CourseNode } from "./nodes.js" */

/** @typedef {{ is_right: boolean, comment: CourseNode[] }} Verdict */
/**
 * @typedef {object} ExercisePart
 * @property {"exercise"} kind
 * @property {string} name
 * @property {"number" | "choice" | "choices" | "option"} answers
 * @property {CourseNode[]} question
 * @property {{ letter: string, nodes: CourseNode[] }[]} choices
 * @property {string | string[] | null} given the right answer, once it was given
 * @property {CourseNode[] | null} right
 */

/** An exercise on the page. */
export class Exercise {
  /**
   * @param {ExercisePart} part
   * @param {number} number
   * @param {(name: string, answer: string | string[]) => Promise<Verdict>} check
   * @param {() => void} solved is called when it is solved
   */
  constructor(part, number, check, solved) {
    this.part = part;
    this.isSolved = part.given !== null;
    this.solved = solved;
    this.check = check;
    const id = `exercise-${part.name}`;
    const title = element("h3", { id: `${id}-title` }, say("course.exercise", { number: String(number) }));
    const question = element("div", { id: `${id}-question`, class: "question" }, ...elementsOf(part.question));
    this.answer = part.choices.length ? choiceList(part, id) : answerField(part, id);
    this.comment = element("div", { class: "verdict", role: "status" });
    this.form = element("form", { novalidate: true }, this.answer);
    this.form.append(element("p", { class: "acts" }, element("button", { class: "plain" }, say("course.check"))));
    const box = { class: "exercise", id, "aria-labelledby": title.id };
    this.box = element("section", box, title, question, this.form, this.comment);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    if (part.right) this.say(true, part.right);
  }

  /** What was written or chosen. */
  given() {
    const fields = [...this.form.querySelectorAll("input")];
    if (!this.part.choices.length) return fields[0].value.trim();
    const letters = fields.filter((field) => field.checked).map((field) => field.value);
    return this.part.answers === "choice" ? (letters[0] ?? "") : letters;
  }

  async submit() {
    const given = this.given();
    if (!given.length) {
      this.say(false, [say("course.empty")], false);
      return;
    }
    try {
      const { is_right, comment } = await this.check(this.part.name, given);
      this.say(is_right, comment);
      if (is_right && !this.isSolved) {
        this.isSolved = true;
        this.solved();
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(false, [error.message], false);
    }
  }

  /**
   * @param {boolean} isRight
   * @param {CourseNode[]} comment
   * @param {boolean} isVerdict false if the answer was none
   */
  say(isRight, comment, isVerdict = true) {
    this.box.dataset.verdict = isRight ? "right" : isVerdict ? "wrong" : "";
    const verdict = isVerdict ? [element("b", {}, say(isRight ? "course.right" : "course.wrong"))] : [];
    this.comment.replaceChildren(...verdict, element("div", {}, ...elementsOf(comment)));
  }
}

/** @type {(part: ExercisePart, id: string) => HTMLElement} */
function answerField({ answers, given }, id) {
  const field = element("input", { id: `${id}-field`, autocomplete: "off", "aria-describedby": `${id}-question` });
  field.maxLength = 200;
  field.value = String(given ?? "");
  field.spellcheck = false;
  if (answers === "number") field.inputMode = "decimal";
  const label = element("label", { for: field.id }, say(answers === "option" ? "course.option" : "course.answer"));
  return element("p", { class: answers }, label, field);
}

/** @type {(part: ExercisePart, id: string) => HTMLElement} */
function choiceList({ answers, choices, given }, id) {
  const rows = choices.map(({ letter, nodes }) => {
    const kind = answers === "choice" ? "radio" : "checkbox";
    const field = element("input", { type: kind, name: id, value: letter });
    field.checked = given !== null && given.includes(letter);
    return element("label", {}, field, element("span", {}, ...elementsOf(nodes)));
  });
  const role = answers === "choice" ? "radiogroup" : "group";
  return element("div", { class: "choices", role, "aria-labelledby": `${id}-question` }, ...rows);
}
