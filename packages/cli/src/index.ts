export { runCommand } from "./command.ts";
export type { CommandSetting } from "./command-context.ts";
export { historyFile } from "./history-file.ts";
export { textEditor } from "./text-editor.ts";
