import { comparePrompts, comparisonTable, type NamedJournal } from "@colloquy/machine";
import type { CommandSetting } from "./command.ts";
import { journalFiles } from "./journal-files.ts";
import { machineFromModule } from "./options-module.ts";

/** The modules whose default export is the options of either machine; without one, all is kept. */
export interface CompareOptions {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * Says what two configurations would send in the conversations of some journals. Gives the exit code: 0; 1 when the
 * second one breaks a law, or there is a journal that can't be compared.
 *
 * @throws Error for a path or a module that can't be meant.
 */
export const compare = async (
  paths: readonly string[],
  options: CompareOptions,
  { output, error }: Pick<CommandSetting, "output" | "error">,
): Promise<number> => {
  if (paths.length === 0) throw new Error("there is nothing to compare: name journals, or folders of them");
  const before = await machineFromModule(options.before);
  const after = await machineFromModule(options.after);
  const journals: NamedJournal[] = [];
  const files = journalFiles(paths);
  for (const file of files) {
    if ("entries" in file) journals.push({ name: file.path, entries: file.entries });
    else error.write(`colloquy: ${file.path} can't be read: ${file.problem}\n`);
  }
  const comparison = comparePrompts(journals, before, after);
  if (journals.length > 0) output.write(`${missingSide(options)}${comparisonTable(comparison)}\n`);
  const compared = comparison.journals.filter(({ unreadable }) => unreadable === null).length;
  return compared > 0 && compared === files.length && comparison.after.broken.length === 0 ? 0 : 1;
};

/** Whoever names one module may take the other side for what was recorded. */
const missingSide = ({ before, after }: CompareOptions): string => {
  if ((before === undefined) === (after === undefined)) return "";
  const side = before === undefined ? "before" : "after";
  return `--${side} is not given: that side keeps everything\n`;
};
