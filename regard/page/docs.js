// The description of the HTTP interface (OpenAPI) as a readable page.

import { byId, element } from "./parts/common.js";
import { fillTexts } from "./parts/filling.js";
import { fieldTable, sampleOf, typeParts } from "./docs/schemas.js";
import { get, Refusal } from "./parts/server.js";
import { say, sayParts } from "./parts/texts.js";
import { tryingForm } from "./docs/trying.js";

/** @import { Described, Schema } from "./docs/schemas.js" */
/** @import { Child } from "./parts/common.js" */

const JSON_KIND = "application/json";

/**
 * A section of the page with a heading that can be linked to.
 * @type {(id: string, heading: Child[], ...children: Node[]) => HTMLElement}
 */
function linkable(id, heading, ...children) {
  const title = element("h2", { id: `${id}-title` }, ...heading);
  return element("section", { id, "aria-labelledby": `${id}-title` }, title, ...children);
}

/**
 * Text from the description, which is in English.
 * @type {(text: string) => HTMLSpanElement}
 */
const described = (text) => element("span", { lang: "en" }, text);

/** @type {(method: string, path: string) => string} */
const idOf = (method, path) => `${method}${path.replaceAll(/\W+/g, "-")}`;

/** @type {(document: Described, path: string, method: string, operation: any) => HTMLElement} */
function operationPart(document, path, method, operation) {
  const body = operation.requestBody?.content ?? {};
  /** @type {Node[]} */
  const parts = [element("p", {}, described(operation.summary))];
  if (body[JSON_KIND]) {
    parts.push(heading("docs.body", Object.keys(body)));
    parts.push(fieldTable(document, body[JSON_KIND].schema));
  }
  const { 200: right, ...wrong } = operation.responses;
  parts.push(heading("docs.answer", Object.keys(right.content)));
  if (right.content[JSON_KIND]) parts.push(element("p", {}, ...typeParts(document, right.content[JSON_KIND].schema)));
  const asking = element("pre", { tabindex: 0 }, command(document, path, method, body[JSON_KIND]?.schema));
  parts.push(element("h3", {}, say("docs.try")), asking);
  if (method === "get" || body[JSON_KIND]) {
    const form = tryingForm(document, path, method, body[JSON_KIND]?.schema);
    parts.push(element("details", {}, element("summary", {}, say("docs.here")), form));
  }
  const errors = Object.entries(wrong).map(([status, { description }]) => {
    return element("li", {}, element("b", {}, status), " ", described(description));
  });
  parts.push(element("details", {}, element("summary", {}, say("docs.errors")), element("ul", {}, ...errors)));
  const name = [element("span", { class: "method" }, method.toUpperCase()), " ", element("code", {}, path)];
  return linkable(idOf(method, path), name, ...parts);
}

/** @type {(key: string, kinds: string[]) => HTMLHeadingElement} */
function heading(key, kinds) {
  const isUsual = String(kinds) === JSON_KIND;
  return element("h3", {}, say(key), ...(isUsual ? [] : [", ", say("docs.kinds", { kinds: kinds.join(", ") })]));
}

/**
 * A shell command that sends this request to this server.
 * @type {(document: Described, path: string, method: string, schema?: Schema) => string}
 */
function command(document, path, method, schema) {
  const address = `${location.origin}${location.pathname.replace(/docs\/?$/, "").replace(/\/$/, "")}${path}`;
  if (method === "get") return `curl -s ${address}`;
  const sent = JSON.stringify(sampleOf(document, schema)).replaceAll("'", "'\\''");
  return `curl -s ${address} -H 'Content-Type: ${JSON_KIND}' -d '${sent}'`;
}

/** @type {(operations: [string, string, any][]) => HTMLElement} */
function contents(operations) {
  const lines = operations.map(([path, method, { summary }]) => {
    const link = element("a", { href: `#${idOf(method, path)}` }, element("code", {}, path));
    const how = element("span", { class: "method" }, method.toUpperCase());
    return element("li", {}, link, " ", how, " ", described(summary));
  });
  return element("nav", { "aria-label": say("docs.addresses") }, element("ul", {}, ...lines));
}

/** @type {(document: Described & Record<string, any>) => void} */
function show(document) {
  /** @type {[string, string, any][]} */
  const operations = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) operations.push([path, method, operation]);
  }
  const file = element("a", { href: "openapi.json" }, "openapi.json");
  const about = element("p", {}, ...sayParts("docs.about", { file, version: document.info.version }));
  const parts = operations.map(([path, method, operation]) => operationPart(document, path, method, operation));
  const records = Object.entries(document.components.schemas).map(([name, schema]) => {
    const told = schema.description ? [element("p", {}, described(schema.description))] : [];
    return linkable(`record-${name}`, [name], ...told, fieldTable(document, schema));
  });
  const title = element("h2", { class: "view-title" }, say("docs.records"));
  byId("docs").replaceChildren(about, contents(operations), ...parts, title, ...records);
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
}

async function begin() {
  fillTexts();
  globalThis.document.title = say("docs.page");
  try {
    show(await get("openapi.json"));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    byId("trouble").textContent = error.message;
    byId("trouble").hidden = false;
  }
}

begin();
