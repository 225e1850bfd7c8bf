export { endingOf } from "./command-context.ts";
export { converse, type ConverseOptions, type ConverseOutcome, wantsColour } from "./terminal/converse.ts";
export { Screen, type Style } from "./terminal/screen.ts";
export { costOf, counted, durationOf, tokensOf } from "./terminal/figures.ts";
