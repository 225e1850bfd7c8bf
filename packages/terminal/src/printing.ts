/** What a command prints with before it is known whether there is a conversation: without host and machine. */
export { endingOf } from "./ending.ts";
export { oneLine } from "./text/printable.ts";
export { Printer } from "./text/printer.ts";
export { wantsColour } from "./text/terminal-abilities.ts";
