// The texts that stand in the page itself, before any script has made something.

import { byId } from "./common.js";
import { languageChoice, say } from "./texts.js";

const KINDS = { say: "textContent", sayLabel: "ariaLabel", sayHint: "placeholder" };

/** Fill texts, names for screen readers and hints in fields, and offer the languages. */
export function fillTexts() {
  /** @type {NodeListOf<any>} */
  const marked = document.querySelectorAll("[data-say], [data-say-label], [data-say-hint]");
  for (const each of marked) {
    for (const [name, property] of Object.entries(KINDS)) {
      if (each.dataset[name]) each[property] = say(each.dataset[name]);
    }
  }
  byId("language").append(languageChoice());
}
