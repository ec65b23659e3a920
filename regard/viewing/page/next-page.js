// The page of `regard look --next`: what may be written at one place.

import { wished } from "./address.js";
import { byId, element, section, signed, word } from "./common.js";
import { mountNext, showNext } from "./next.js";
import { enclosed, followAddress, openPage, openPlainPage } from "./opening.js";

const data = enclosed();
const next = { ...data, language: data.target.language };
const show = (wish) => showNext(next, wish);
if (data.source.text) openPage("The next token", data, " …");
else openPlainPage("The next token", `${data.target.text} …`); // a language model reads nothing but what is written
mountNext(byId("views"));
if (data.nearest.length) {
  const tokens = data.nearest.map(([token, cosine]) =>
    element("li", {}, word(token, next.language), ` ${signed(cosine)}`));
  const told = "The rows of the output layer that point most nearly the way of the state, by cosine. " +
    "How probable a token is also depends on how long its row is, and on its bias.";
  const list = element("ol", { id: "nearest" }, ...tokens);
  byId("views").append(section("nearest", "Nearest output vectors", element("p", {}, told), list));
}
show(Object.keys(wished()).length ? wished() : data.start);
followAddress(show);
