// The page of `regard show forward`: the whole pass of one sentence, from token to logits.

import { byId } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { mountForward, showForward } from "./forward.js";

const data = enclosed();
openPlainPage(say("forward.page"), data.text);
mountForward(byId("views"));
showForward(data);
