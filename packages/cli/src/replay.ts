import { conversationMachine } from "@colloquy/machine";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { failureText, named, oneLine } from "@colloquy/terminal";
import type { CommandContext } from "./command-context.ts";
import { detectedFormat, importFormatNamed } from "./import-formats.ts";
import { journalPaths } from "./journal-files.ts";
import { machineFromModule } from "./options-module.ts";
import type { OptionValues } from "./options.ts";

type ReplayOptions = Pick<OptionValues, "from" | "options" | "repair" | "system">;

/**
 * Lets a machine decide logged conversations again, and prints for each whether it would have sent the same, or the first
 * difference. Returns the exit code: 0, or 1 if one differs or a file cannot be read.
 *
 * @throws Error for invalid options, and for a path that does not exist.
 */
export const replayLogs = async (
  paths: readonly string[],
  { from, options, repair = false, system }: ReplayOptions,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  if (paths.length === 0) throw new Error("replay takes files: journals, messages, or logged requests; none is named");
  if (from !== undefined) importFormatNamed(from, {});
  const withTools = options !== undefined;
  // Without a module, every tool that the log names is called.
  const machine = withTools ? await machineFromModule(options) : conversationMachine({ unknownTool: "ask" });
  let failures = 0;
  for (const path of journalPaths(paths)) {
    try {
      const name = from ?? detectedFormat(path);
      const { journals } = importFormatNamed(name, repair ? { repair } : {});
      if (journals === undefined)
        throw new Error(`the format ${name} holds no model calls; give a journal, messages, or logged requests`);
      const report = (line: string): void => errors.line(`${named(path)}: ${oneLine(line)}`);
      const conversations = journals(path, { repair, report, withTools });
      for (const [index, entries] of conversations.entries()) {
        const replayed = replay(machine, entries, system === undefined ? {} : { system });
        const label = conversations.length === 1 ? named(path) : `${named(path)}, conversation ${index + 1}`;
        if ("left" in replayed) failures++;
        printer.line(`${label}: ${"left" in replayed ? oneLine(describeDifference(replayed.left)) : "the same"}`);
      }
    } catch (thrown) {
      errors.line(`colloquy: ${named(path)}: ${failureText(thrown)}`);
      failures++;
    }
  }
  return failures === 0 ? 0 : 1;
};
