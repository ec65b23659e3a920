// The page of a model card, which the server writes; only the texts around it and the link to its file are added here.

import { byId } from "./parts/common.js";
import { fillTexts } from "./parts/filling.js";

fillTexts();
byId("card-file").href = `card.md${location.search}`;
