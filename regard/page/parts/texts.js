// What pages say, in the language of whoever reads them. The tables of texts lie in the page; no other text is shown.

const KEPT_AS = "regard-language";
const HOLE = /\{(\w+)\}/; // where a value goes

const tables = JSON.parse(document.getElementById("page-texts").textContent);

/** The language that was chosen before; none where the browser keeps nothing. */
function keptLanguage() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

/** The language of the page: what was chosen, or the first of the browser's that there are texts in. */
export const language =
  [keptLanguage(), ...navigator.languages]
    .map((tag) => tag?.split("-")[0])
    .find((code) => Object.hasOwn(tables, code)) ?? Object.keys(tables)[0];
document.documentElement.lang = language;

const plurals = new Intl.PluralRules(language);
const formats = new Map();

const LARGE = 1e6; // from here on a number is told by its power of ten

/** A number with so many decimals, or a large one by its power of ten, as the language writes it. */
export function decimal(value, digits) {
  if (Math.abs(value) >= LARGE) {
    return value.toLocaleString(language, { notation: "scientific", maximumFractionDigits: 1 });
  }
  if (!formats.has(digits)) {
    const exactly = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    formats.set(digits, new Intl.NumberFormat(language, { ...exactly, useGrouping: false, signDisplay: "negative" }));
  }
  return formats.get(digits).format(value);
}

/** A number as the language writes it. */
export const inLanguage = (value) => value.toLocaleString(language);

/** How long something took. */
export function duration(seconds) {
  if (seconds < 1) return say("time.milliseconds", { time: decimal(seconds * 1000, 0) });
  return say("time.seconds", { time: decimal(seconds, 1) });
}

/** Whether there is a text under this name. */
export const isSaid = (key) => Object.hasOwn(tables[language], key);

/** A text in English, in which servers speak, and the names of all such texts of a group. */
export const original = (key) => tables.en[key];
export const originalNames = (group) => Object.keys(tables.en).filter((key) => key.startsWith(`${group}.`));

/** A text as a list of strings and of whatever its gaps are filled with; `count` chooses the form for that number. */
export function sayParts(key, values = {}) {
  const entry = tables[language][key];
  const text = typeof entry === "string" ? entry : entry[plurals.select(values.count)] ?? entry.other;
  const filled = (name) => (typeof values[name] === "number" ? inLanguage(values[name]) : values[name]);
  return text.split(HOLE).map((part, place) => (place % 2 ? filled(part) : part)).filter((part) => part !== "");
}

/** A text of the page. */
export const say = (key, values) => sayParts(key, values).join("");

/** A choice of language, which is kept; the page begins anew in it, with what its address says. */
export function languageChoice() {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", say("language.choose"));
  choice.className = "language unsaved";
  for (const [code, table] of Object.entries(tables)) {
    const option = new Option(table["language.name"], code, false, code === language);
    option.lang = code;
    choice.append(option);
  }
  choice.addEventListener("change", () => {
    try {
      localStorage.setItem(KEPT_AS, choice.value);
    } catch {
      return; // A browser that keeps nothing goes on with its own.
    }
    location.reload();
  });
  return choice;
}
