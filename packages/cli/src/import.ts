import { createHost, ThreadExistsError } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import type { CommandContext } from "./command-context.ts";
import { detectedFormat, importFormatNamed } from "./import-formats.ts";
import { journalPaths } from "./journal-files.ts";
import { openStore } from "./kept-threads.ts";
import type { OptionValues } from "./options.ts";
import { failureText, named, oneLine } from "@colloquy/cli/terminal";

type ImportOptions = Pick<OptionValues, "store" | "from" | "thread" | "repair">;

/**
 * Makes a thread from each file, or from each line of a data set. Detects the format of a file unless `--from` names it.
 * Reports on the error output what a thread cannot hold, and each file that it could not import; the others are imported.
 * Returns the exit code: 0, or 1 if a file could not be imported.
 *
 * @throws Error for invalid options, and for a path that does not exist.
 */
export const importThreads = async (
  paths: readonly string[],
  options: ImportOptions,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  if (paths.length === 0) throw new Error("import takes files; none is named");
  if (options.store === undefined)
    throw new Error("--store is missing: the SQLite file, the folder or the URL that is to keep the thread");
  const { from, thread, repair = false } = options;
  if (from !== undefined) importFormatNamed(from, options);
  const files =
    from === undefined || from === "journal"
      ? journalPaths(paths, "journals, messages, logged requests or data sets")
      : paths;
  if (thread !== undefined && files.length > 1)
    throw new Error(`--thread names one thread, and there are ${files.length} files; import them under their own ids`);
  const store = await openStore(options.store);
  const host = createHost({
    machine: conversationMachine(),
    store,
    // Importing calls no model: an open turn continues when the thread is used.
    llm: () => Promise.reject(new Error("importing calls no model")),
    clock: systemClock,
    ids: randomIds,
    recovery: false,
  });
  const under = thread === undefined ? {} : { threadId: thread };
  let failures = 0;
  try {
    for (const path of files) {
      try {
        const format = importFormatNamed(from ?? detectedFormat(path), options);
        const report = (line: string): void => errors.line(`${named(path)}: ${oneLine(line)}`);
        const found = await format.read(path, { host, report, repair, under });
        for (const id of found.ids) printer.line(named(id));
        failures += found.failures;
      } catch (thrown) {
        errors.line(`colloquy: ${named(path)}: ${failureText(withAdvice(thrown))}`);
        failures++;
      }
    }
    return failures === 0 ? 0 : 1;
  } finally {
    await host.close();
    await store.close();
  }
};

const withAdvice = (thrown: unknown): unknown =>
  thrown instanceof ThreadExistsError
    ? new Error(`thread "${thrown.threadId}" exists already; give the new one another id with --thread`, {
        cause: thrown,
      })
    : thrown;
