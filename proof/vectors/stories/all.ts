import { askStories } from "./asks.ts";
import { invalidStories } from "./invalid.ts";
import { joiningAskStories } from "./joining-asks.ts";
import { misshapenStories } from "./misshapen.ts";
import { modelCallStories } from "./model-calls.ts";
import { repeatedAskStories } from "./repeated-asks.ts";
import { systemMessageStories } from "./system-messages.ts";
import { textStories } from "./texts.ts";
import { toolStories } from "./tools.ts";
import { windowStories } from "./windows.ts";
import { type Story } from "./story.ts";

/** Stories that are told by concept: what neither stories in files nor drawn scripts show. */
export const stories: readonly Story[] = [
  ...windowStories,
  ...askStories,
  ...repeatedAskStories,
  ...joiningAskStories,
  ...invalidStories,
  ...misshapenStories,
  ...toolStories,
  ...modelCallStories,
  ...systemMessageStories,
  ...textStories,
];
