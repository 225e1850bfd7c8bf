export { runCommand } from "./command.ts";
export type { CommandSetting } from "./command-context.ts";
