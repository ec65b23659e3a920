// The page of `regard look --beam`: one beam search as a tree.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { enclosed, followAddress, openPage } from "../parts/opening.js";
import { changeTree, mountTree, showTree } from "./tree.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPage(say("tree.page"), data);
mountTree(byId("views"));
showTree(data, wished());
followAddress(changeTree);
