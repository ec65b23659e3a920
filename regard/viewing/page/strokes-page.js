// The page of `regard look` for a model that draws strokes.

import { wished } from "./address.js";
import { byId } from "./common.js";
import { enclosed, followAddress, openPlainPage } from "./opening.js";
import { changeStrokes, mountStrokes, showStrokes } from "./strokes.js";
import { say } from "./texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountStrokes(byId("views"));
showStrokes(data, wished());
followAddress(changeStrokes);
