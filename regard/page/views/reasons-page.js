// Why a model decided so, as a page.

import { byId } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { mountReasons, showReasons } from "./reasons.js";

const data = enclosed();
openPlainPage(say("reasons.page"), data.title);
showReasons(mountReasons(byId("views"), "reasons"), data);
