// The page of `regard look` for a model that hears a sound.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { changeFrames, mountFrames, showFrames } from "./frames.js";
import { enclosed, followAddress, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountFrames(byId("views"));
showFrames(data, wished());
followAddress(changeFrames);
