// JSON Schemas in readable form: the type of a value, the fields of a record, and a small example.

import { element } from "../parts/common.js";
import { say } from "../parts/texts.js";

/** @import { Child } from "../parts/common.js" */
/** @typedef {Record<string, any>} Schema */
/** @typedef {{ components: { schemas: Record<string, Schema> } }} Described */
/** @typedef {{ name: string, schema: Schema, isRequired: boolean }} Field */

const REFERENCE = "#/components/schemas/";
const DEEPEST = 4; // levels of nested records in an example
const LARGE = 2 ** 31; // bounds from here on are not shown

/** @type {(schema: Schema) => string} */
const nameOf = (schema) => (schema.$ref?.startsWith(REFERENCE) ? schema.$ref.slice(REFERENCE.length) : "");
/** @type {(document: Described, schema: Schema) => Schema} */
const resolved = (document, schema) => (nameOf(schema) ? document.components.schemas[nameOf(schema)] : schema);

/**
 * The type of a value, with links to records.
 * @type {(document: Described, schema: Schema) => Child[]}
 */
export function typeParts(document, schema) {
  if (nameOf(schema)) return [element("a", { href: `#record-${nameOf(schema)}` }, nameOf(schema))];
  /** @type {Schema[] | undefined} */
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.flatMap((each, place) => [...(place ? [" | "] : []), ...typeParts(document, each)]);
  if (schema.enum) return [schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)).join(" | ")];
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.type === "array") return nested("docs.list", document, schema.items ?? schema.prefixItems?.[0] ?? {});
  if (schema.type === "object" && schema.additionalProperties instanceof Object) {
    return nested("docs.table", document, schema.additionalProperties);
  }
  return [schema.type === "null" ? say("docs.nothing") : schema.type ?? say("docs.any"), bounds(schema)];
}

/** @type {(key: string, document: Described, schema: Schema) => Child[]} */
function nested(key, document, schema) {
  const [before, after] = say(key, { type: "\u0000" }).split("\u0000");
  return [before, ...typeParts(document, schema), after];
}

/** @type {(schema: Schema) => string} */
function bounds({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, maxLength, maxItems }) {
  const told = [
    minimum !== undefined && `≥ ${minimum}`,
    above !== undefined && `> ${above}`,
    maximum < LARGE && `≤ ${maximum}`,
    below < LARGE && `< ${below}`,
    maxLength !== undefined && `… ${maxLength}`,
    maxItems !== undefined && `… ${maxItems}`,
  ].filter(Boolean);
  return told.length ? ` (${told.join(", ")})` : "";
}

/**
 * The fields of a record as a table.
 * @type {(document: Described, schema: Schema) => HTMLDivElement}
 */
export function fieldTable(document, schema) {
  const { properties = {}, required = [] } = resolved(document, schema);
  const names = ["field", "type", "what"].map((name) => element("th", { scope: "col" }, say(`docs.${name}`)));
  const lines = Object.entries(properties).map(([name, field]) => {
    return fieldLine(document, name, field, required.includes(name));
  });
  const table = element("table", {}, element("tr", {}, ...names), ...lines);
  return element("div", { class: "fields", tabindex: 0 }, lines.length ? table : say("docs.any"));
}

/** @type {(document: Described, name: string, field: Schema, isRequired: boolean) => HTMLTableRowElement} */
function fieldLine(document, name, field, isRequired) {
  const usual = field.default === undefined || field.default === null ? "" : JSON.stringify(field.default);
  const need = isRequired ? say("docs.required") : usual && say("docs.usual", { value: usual });
  const title = element("th", { scope: "row" }, element("code", {}, name));
  if (need) title.append(element("small", {}, need));
  const what = element("td", { lang: "en" }, field.description ?? "");
  return element("tr", {}, title, element("td", {}, ...typeParts(document, field)), what);
}

/**
 * The fields of the request body, if it has one: their names and schemas, and whether they are required.
 * @type {(document: Described, schema?: Schema) => Field[]}
 */
export function requestFields(document, schema) {
  const { properties = {}, required = [] } = schema ? resolved(document, schema) : {};
  return Object.entries(properties).map(([name, field]) => {
    return { name, schema: field, isRequired: required.includes(name) };
  });
}

/**
 * The first type that a schema allows, other than null.
 * @type {(document: Described, schema: Schema) => Schema}
 */
export function plainOf(document, schema) {
  const whole = resolved(document, schema);
  const either = whole.anyOf ?? whole.oneOf;
  return either ? plainOf(document, either.find((/** @type {Schema} */ { type }) => type !== "null") ?? {}) : whole;
}

/**
 * A small value that fits a schema; a record has only its required fields.
 * @type {(document: Described, schema?: Schema, depth?: number) => any}
 */
export function sampleOf(document, schema, depth = 0) {
  const whole = resolved(document, schema ?? {});
  const either = whole.anyOf ?? whole.oneOf;
  if (whole.default !== undefined && whole.default !== null) return whole.default;
  if (either) return sampleOf(document, either[0], depth);
  if (whole.enum) return whole.enum[0];
  if (whole.const !== undefined) return whole.const;
  if (whole.type === "array") return depth < DEEPEST ? [sampleOf(document, whole.items, depth + 1)] : [];
  if (whole.type === "object") {
    /** @type {string[]} */
    const names = whole.required ?? [];
    return Object.fromEntries(names.map((name) => [name, sampleOf(document, whole.properties[name], depth + 1)]));
  }
  /** @type {Record<string, any>} */
  const plain = { integer: whole.minimum ?? 1, number: whole.minimum ?? 1, boolean: true, null: null };
  return Object.hasOwn(plain, whole.type) ? plain[whole.type] : "…";
}
