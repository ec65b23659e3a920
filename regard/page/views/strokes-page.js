// The page of `regard look` for a model that draws strokes.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { changeStrokes, mountStrokes, showStrokes } from "./strokes.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountStrokes(byId("views"));
showStrokes(data, wished());
followAddress(changeStrokes);
