// The page of `regard look --next`: what may be written at one place.

import { wished } from "./address.js";
import { byId } from "./common.js";
import { mountNext, showNext } from "./next.js";
import { enclosed, followAddress, openPage } from "./opening.js";

const data = enclosed();
const next = { ...data, language: data.target.language };
const show = (wish) => showNext(next, wish);
openPage("The next token", data, " …");
mountNext(byId("views"));
show(Object.keys(wished()).length ? wished() : data.start);
followAddress(show);
