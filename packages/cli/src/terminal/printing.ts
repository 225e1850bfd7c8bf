/** The printing functions of a command that has no conversation yet: without host and machine. */
export { endingOf } from "./ending.ts";
export { oneLine } from "./text/printable.ts";
export { Printer } from "./text/printer.ts";
export { wantsColour } from "./text/terminal-abilities.ts";
