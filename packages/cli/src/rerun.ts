import { type Metric, rerun, rerunTable, type SaidTurn } from "@colloquy/sessions/datasets";
import { openaiChat, systemClock } from "@colloquy/runtime-node";
import { serverOf, withoutSecrets } from "./models.ts";
import type { CommandContext } from "./command-context.ts";
import { journalFiles, readableJournals } from "./journal-files.ts";
import { functionFromModule, optionsFromModule } from "./optional-modules.ts";
import type { OptionValues } from "./options.ts";
import { oneLine } from "@colloquy/cli/terminal";

/**
 * The model and its server, the system prompt, the modules with the machine's options and a metric, and the history
 * before each question.
 */
type RerunOptions = Pick<OptionValues, "model" | "base-url" | "system" | "options" | "metric" | "history">;

/**
 * Asks the questions of recorded conversations again, and prints the new answers beside the recorded ones. Returns the
 * exit code. It is 0, or 1 if a journal cannot be read, a conversation did not end, a turn did not complete, a metric
 * failed, or nothing was asked.
 *
 * @throws Error for an invalid path, module or option.
 */
export const rerunJournals = async (
  paths: readonly string[],
  options: RerunOptions,
  { printer, errors, environment, signal }: Pick<CommandContext, "printer" | "errors" | "environment" | "signal">,
): Promise<number> => {
  if (paths.length === 0) throw new Error("there is nothing to ask again: name journals, or folders of them");
  const { system, history = "recorded" } = options;
  if (history !== "recorded" && history !== "own")
    throw new Error(`--history is "${history}"; it must be one of: recorded, own`);
  const { apiKey, baseURL, model } = serverOf(options, null, environment);
  const machine = await optionsFromModule(options.options);
  const metric =
    options.metric === undefined
      ? undefined
      : await functionFromModule<Metric<SaidTurn, SaidTurn>>(options.metric, "metric");
  const files = journalFiles(paths);
  const journals = readableJournals(files, errors);
  errors.line(oneLine(`${model} at ${withoutSecrets(baseURL)}`));
  const report = await rerun(journals, {
    llm: openaiChat({ apiKey, baseURL, model, tools: [] }),
    clock: systemClock,
    // A server that stops sending must not block the rest.
    machine: { idleTimeoutMs: 120_000, ...machine },
    history,
    signal,
    // A recorded thread may name the model that it was recorded with.
    ...(options.model === undefined ? {} : { model: { model } }),
    ...(system === undefined ? {} : { system }),
    ...(metric === undefined ? {} : { metric }),
  });
  if (journals.length > 0) printer.line(rerunTable(report));
  const { conversations, before, after } = report;
  const turns = conversations.flatMap((conversation) => conversation.turns);
  if (turns.length === 0) errors.line("colloquy: nothing was asked: no question is in what was read");
  const failed =
    conversations.some(({ problem }) => problem !== null) ||
    turns.some((turn) => turn.before.metricFailed !== null || turn.after.metricFailed !== null);
  return journals.length === files.length && before.turns > 0 && after.completed === after.turns && !failed ? 0 : 1;
};
