// The page of `regard look --next`: the candidates at one place.

import { wished } from "../parts/address.js";
import { byId, element, section, signed, tokenWord } from "../parts/common.js";
import { mountNext, showNext } from "./next.js";
import { enclosed, followAddress, openPage, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */

const data = enclosed();
const next = { ...data, language: data.target.language };
/** @type {(wish: Wish) => void} */
const show = (wish) => showNext(next, wish);
if (data.source.text) openPage(say("next.page"), data, " …");
else openPlainPage(say("next.page"), `${data.target.text} …`); // a language model has no source text
mountNext(byId("views"));
if (data.nearest.length) {
  const tokens = data.nearest.map((/** @type {[string, number]} */ [token, cosine]) =>
    element("li", {}, tokenWord(token, next.language), ` ${signed(cosine)}`));
  const list = element("ol", { id: "nearest" }, ...tokens);
  byId("views").append(section("nearest", say("nearest.title"), element("p", {}, say("nearest.about")), list));
}
show(Object.keys(wished()).length ? wished() : data.start);
followAddress(show);
