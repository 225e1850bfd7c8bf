export { endingOf } from "./process-ending.ts";
export { converse, type ConverseOptions, type ConverseOutcome, wantsColour } from "./terminal/converse.ts";
export { counted, durationOf, tokensOf } from "./terminal/figures.ts";
