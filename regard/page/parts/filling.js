// The texts in the HTML of the page itself, as opposed to elements that scripts create.

import { byId } from "./common.js";
import { languageChoice, say } from "./texts.js";

const FILLED = { say: "textContent", sayLabel: "ariaLabel", sayHint: "placeholder" };

/**
 * Fill in texts, labels for screen readers and placeholders of fields, and list the languages.
 * @param {(chosen: string) => Promise<boolean>} [keep] stores the language that is chosen
 */
export function fillTexts(keep) {
  /** @type {NodeListOf<any>} */
  const marked = document.querySelectorAll("[data-say], [data-say-label], [data-say-hint]");
  for (const each of marked) {
    for (const [name, property] of Object.entries(FILLED)) {
      if (each.dataset[name]) each[property] = say(each.dataset[name]);
    }
  }
  byId("language").append(languageChoice(keep));
}
