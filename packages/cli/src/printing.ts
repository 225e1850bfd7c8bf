/** The printing functions of a command that has no conversation yet: without host and machine. */
export { endingOf } from "./terminal/ending.ts";
export { didYouMean, oneLine } from "./terminal/text/printable.ts";
export { Printer } from "./terminal/text/printer.ts";
export { wantsColour } from "./terminal/text/theme.ts";
