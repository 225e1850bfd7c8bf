import { conversationMachine } from "@colloquy/machine";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { failureText, named, oneLine } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { detectedFormat, importFormatNamed, replayedFormats } from "./import-formats.ts";
import { journalPaths } from "./journal-files.ts";
import { machineFromModule } from "./optional-modules.ts";
import type { OptionValues } from "./options.ts";

type ReplayOptions = Pick<OptionValues, "from" | "options" | "repair" | "system">;

const taken = "journals, messages, or logged requests";

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
  if (paths.length === 0) throw new Error(`replay takes files: ${taken}; none is named`);
  if (from !== undefined) importFormatNamed(from, {}, replayedFormats);
  const withTools = options !== undefined;
  // Without a module, every tool that the log names is called.
  const machine = withTools ? await machineFromModule(options) : conversationMachine({ unknownTool: "ask" });
  let failures = 0;
  for (const path of journalPaths(paths, taken)) {
    try {
      const name = from ?? detectedFormat(path, replayedFormats);
      const { journals = () => [] } = importFormatNamed(name, repair ? { repair } : {}, replayedFormats);
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
