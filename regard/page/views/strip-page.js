// The page of `regard look` for a model that attends to the frames of a video.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { changeStrip, mountStrip, showStrip } from "./strip.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountStrip(byId("views"));
showStrip(data, wished());
followAddress(changeStrip);
