// The page of `regard look` for a model that looks through the facts of a story.

import { byId } from "./common.js";
import { mountFacts, showFacts } from "./facts.js";
import { enclosed, openPlainPage } from "./opening.js";
import { say } from "./texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), `${data.question} ${data.answer}`);
mountFacts(byId("views"));
showFacts(data);
