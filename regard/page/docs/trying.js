// A form for one path of the interface, made from its description; it sends requests to this server.

import { element } from "../parts/common.js";
import { plainOf, requestFields, sampleOf } from "./schemas.js";
import { say } from "../parts/texts.js";

/** @import { Child } from "../parts/common.js" */
/** @import { Described, Field, Schema } from "./schemas.js" */
/** @typedef {{ name: string, isRequired: boolean, read: () => unknown, line: HTMLElement }} Filled a field */

const MOST = 20_000; // characters of an answer to show

/**
 * The form of an operation; without a schema for the request body there are no fields.
 * @type {(document: Described, path: string, method: string, schema?: Schema) => HTMLFormElement}
 */
export function tryingForm(document, path, method, schema) {
  const fields = requestFields(document, schema).map((field) => fieldOf(document, field, `${method}${path}`));
  /** @type {(isRequired: boolean) => HTMLElement[]} */
  const lines = (isRequired) => fields.filter((each) => each.isRequired === isRequired).map(({ line }) => line);
  const form = element("form", { class: "trying" }, ...lines(true));
  if (lines(false).length) {
    form.append(element("details", {}, element("summary", {}, say("docs.more")), ...lines(false)));
  }
  const answer = element("output", {});
  form.append(element("button", { type: "submit" }, say("docs.send")), answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    answer.replaceChildren(say("docs.waiting"));
    answer.replaceChildren(...(await answerParts(path, method, schema && fields)));
  });
  return form;
}

/**
 * One field: a line of the form, and `read`, which returns its value, or nothing if it is empty.
 * @type {(document: Described, field: Field, of: string) => Filled}
 */
function fieldOf(document, { name, schema, isRequired }, of) {
  const id = `try-${of}-${name}`.replaceAll(/\W+/g, "-");
  const plain = plainOf(document, schema);
  const choices = plain.type === "boolean" ? [true, false] : plain.enum;
  const given = isRequired ? sampleOf(document, schema) : "…";
  const control = choices ? choiceOf(choices) : inputOf(plain.type);
  control.id = id;
  control.required = isRequired;
  if (given !== "…") control.value = typeof given === "string" ? given : JSON.stringify(given);
  const isText = plain.type === "string" && !choices;
  const read = () => (control.value === "" ? undefined : isText ? control.value : JSON.parse(control.value));
  const title = element("label", { for: id }, element("code", {}, name));
  if (isJson(plain.type) && !choices) title.append(" ", element("small", {}, say("docs.json")));
  return { name, isRequired, read, line: element("p", {}, title, control) };
}

/** @type {(type: string) => boolean} */
const isJson = (type) => !["string", "integer", "number"].includes(type);

/** @type {(type: string) => HTMLInputElement} */
function inputOf(type) {
  const isNumber = type === "integer" || type === "number";
  return element("input", isNumber ? { type: "number", step: type === "integer" ? 1 : "any" } : { type: "text" });
}

/**
 * A select element with these values as JSON; initially none is selected.
 * @type {(values: unknown[]) => HTMLSelectElement}
 */
function choiceOf(values) {
  const options = values.map((value) => element("option", { value: JSON.stringify(value) }, String(value)));
  return element("select", {}, element("option", { value: "" }, "–"), ...options);
}

/**
 * Send the request and show the answer.
 * @type {(path: string, method: string, fields?: Filled[]) => Promise<Child[]>}
 */
async function answerParts(path, method, fields) {
  /** @type {RequestInit} */
  const request = { method: method.toUpperCase() };
  if (fields) {
    try {
      request.body = JSON.stringify(Object.fromEntries(fields.map(({ name, read }) => [name, valueOf(name, read)])));
    } catch (error) {
      return [/** @type {Error} */ (error).message];
    }
    request.headers = { "Content-Type": "application/json" };
  }
  const began = performance.now();
  const answer = await fetch(path.slice(1), request).catch(() => null);
  if (answer === null) return [say("trouble.silent")];
  const text = await answer.text();
  const time = String(Math.round(performance.now() - began));
  const shown = pretty(text);
  return [
    say("docs.came", { status: String(answer.status), time }),
    element("pre", { tabindex: 0 }, shown.length > MOST ? `${shown.slice(0, MOST)}…` : shown),
  ];
}

/** @type {(name: string, read: () => unknown) => unknown} */
function valueOf(name, read) {
  try {
    return read();
  } catch {
    throw new Error(say("docs.unread", { field: name }));
  }
}

/** @type {(text: string) => string} */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}
