import { comparePrompts, comparisonTable } from "@colloquy/machine/inspect";
import type { CommandContext } from "./command-context.ts";
import { journalFiles, readableJournals } from "./journal-files.ts";
import { machineFromModule } from "./optional-modules.ts";
import type { OptionValues } from "./options.ts";

/** The modules whose default exports are the options of the two machines; without a module, everything is kept. */
type CompareOptions = Pick<OptionValues, "before" | "after">;

/**
 * Prints what two configurations would send in the conversations of some journals. Returns the exit code: 0; 1 if the
 * second one breaks a law, if a journal cannot be compared, or if no journal has a model call.
 *
 * @throws Error for an invalid path or module.
 */
export const compare = async (
  paths: readonly string[],
  options: CompareOptions,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  if (paths.length === 0) throw new Error("there is nothing to compare: name journals, or folders of them");
  const before = await machineFromModule(options.before);
  const after = await machineFromModule(options.after);
  const files = journalFiles(paths);
  const journals = readableJournals(files, errors);
  const comparison = comparePrompts(journals, before, after);
  if (journals.length > 0) printer.line(`${missingSide(options)}${comparisonTable(comparison)}`);
  const calls = comparison.journals.reduce((sum, journal) => sum + journal.calls, 0);
  const compared = comparison.journals.filter(({ unreadable }) => unreadable === null).length;
  if (compared > 0 && calls === 0) errors.line("colloquy: nothing to compare: no model call was made in what was read");
  return calls > 0 && compared === files.length && comparison.after.broken.length === 0 ? 0 : 1;
};

/** Describes the side without a module, because the user may mistake it for the recorded configuration. */
const missingSide = ({ before, after }: CompareOptions): string => {
  if ((before === undefined) === (after === undefined)) return "";
  const side = before === undefined ? "before" : "after";
  return `--${side} is not given: that side keeps everything\n`;
};
