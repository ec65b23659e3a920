// The page of `regard answer` for a model that tags each word: all sentences, one below another.

import { byId, element } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { taggedWords } from "./tags.js";
import { say } from "../parts/texts.js";

/** @import { Tagged } from "./tags.js" */

const { title, sentences } = enclosed();
openPlainPage(say("tags.page"), title);
const lines = sentences.map((/** @type {Tagged} */ each) => element("li", {}, taggedWords(each)));
byId("views").append(element("ol", { class: "sentences" }, ...lines));
