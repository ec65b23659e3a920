// The page of `regard look` for a model that attends to the facts of a story.

import { byId } from "../parts/common.js";
import { mountFacts, showFacts } from "./facts.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), `${data.question} ${data.answer}`);
mountFacts(byId("views"));
showFacts(data);
