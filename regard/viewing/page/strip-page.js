// The page of `regard look` for a model that looks at the frames of a video.

import { wished } from "./address.js";
import { byId } from "./common.js";
import { enclosed, followAddress, openPlainPage } from "./opening.js";
import { changeStrip, mountStrip, showStrip } from "./strip.js";
import { say } from "./texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountStrip(byId("views"));
showStrip(data, wished());
followAddress(changeStrip);
