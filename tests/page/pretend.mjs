// What scripts of the page find in a browser when they begin, as far as those that are tested here ask for it.

import { readFileSync } from "node:fs";

const LANGUAGES = ["en", "pt", "ru"];
const texts = (language) => {
  return JSON.parse(readFileSync(new URL(`../../regard/page/texts/${language}.json`, import.meta.url), "utf8"));
};

/** Let scripts that are imported from now on find the texts of the page, a reader of this language and an address. */
export function pretendPage(language = "en") {
  const content = JSON.stringify(Object.fromEntries(LANGUAGES.map((code) => [code, texts(code)])));
  const history = {
    replaceState: (_state, _title, address) => {
      if (history.refuses) throw new Error("too many changes");
      location.hash = address;
    },
  };
  const location = { hash: "" };
  const page = {
    document: {
      getElementById: () => ({ textContent: content }),
      createElement: () => ({ getContext: () => ({}) }),
      documentElement: { dataset: {} },
    },
    navigator: { languages: [`${language}-XX`] },
    location,
    history,
  };
  for (const [name, value] of Object.entries(page)) Object.defineProperty(globalThis, name, { value, writable: true });
  return page;
}
