import type { Entry } from "@colloquy/machine";
import { explain, explanationTable } from "@colloquy/machine/inspect";
import { fold } from "@colloquy/machine/journal";
import type { CommandContext } from "./command-context.ts";
import { journalFile } from "./journal-files.ts";
import { machineFromModule } from "./optional-modules.ts";
import type { OptionValues } from "./options.ts";

/** The module whose default export is the machine's options, and the entry after which the next prompt is explained. */
type ExplainOptions = Pick<OptionValues, "options" | "at">;

/**
 * Prints for each unit of a recorded conversation whether the next prompt would show it, and why. Returns the exit
 * code, 0.
 *
 * @throws Error for an invalid journal, module or entry.
 */
export const explainJournal = async (
  paths: readonly string[],
  { options, at }: ExplainOptions,
  { printer }: Pick<CommandContext, "printer">,
): Promise<number> => {
  const [path, ...more] = paths;
  if (path === undefined || more.length > 0)
    throw new Error(`explain takes one journal, a file in JSON lines; ${paths.length} are named`);
  const file = journalFile(path);
  if (!("entries" in file)) throw new Error(`${path} can't be read: ${file.problem}`);
  const folded = fold(entriesUpTo(file.entries, at));
  if ("left" in folded) throw new Error(`${path} can't be read: entry ${folded.left.seq}: ${folded.left.reason}`);
  const machine = await machineFromModule(options);
  printer.line(explanationTable(explain(machine, folded.right)));
  return 0;
};

const entriesUpTo = (entries: readonly Entry[], at: string | undefined): readonly Entry[] => {
  if (at === undefined || entries.length === 0) return entries;
  const seq = Number(at);
  if (!/^\d+$/.test(at) || seq >= entries.length)
    throw new Error(`--at is "${at}"; it is the number of an entry, from 0 to ${entries.length - 1}`);
  return entries.slice(0, seq + 1);
};
