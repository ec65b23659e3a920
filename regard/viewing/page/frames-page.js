// The page of `regard look` for a model that hears a sound.

import { wished } from "./address.js";
import { byId } from "./common.js";
import { changeFrames, mountFrames, showFrames } from "./frames.js";
import { enclosed, followAddress, openPlainPage } from "./opening.js";
import { say } from "./texts.js";

const data = enclosed();
openPlainPage(say("looks.page"), data.title);
mountFrames(byId("views"));
showFrames(data, wished());
followAddress(changeFrames);
