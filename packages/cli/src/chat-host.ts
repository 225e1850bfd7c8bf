import type { AskOptions, Host, HostedThread, OutputSchema, StoredThread } from "@colloquy/host";
import { type Content, type JsonObject, type MachineOptions, textOf } from "@colloquy/machine";
import { type Choice, firstQuestionIn, named, type Printer, wrapped } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { openedHost, type OpenedHost, opening, type Opens } from "./opened-host.ts";
import type { Provider } from "./models.ts";
import type { Settled } from "./settings.ts";
import { type Asked, callerOf, type FollowedChat } from "./turn.ts";
import { basename, extname } from "node:path";
import { createInterface } from "node:readline/promises";
import { firstWords } from "@colloquy/machine/inspect";
import { ArgumentError, InterruptedError } from "./exit-code.ts";
import type { OptionValues } from "./options.ts";
import { readTextFile } from "./text-file.ts";

export interface Chat extends Omit<OpenedHost, "ask" | "provider" | "system">, FollowedChat {
  readonly ask: (input: Content, threadId: string) => Asked;
  readonly models: Choice;
  readonly close: () => Promise<void>;
}

/**
 * Opens a conversation from options: its model, tools, store and thread.
 *
 * @throws if anything cannot be used; then everything is closed again
 */
export const openedChat = (settings: Settled, context: CommandContext): Promise<Chat> =>
  opening((opens) => chatOf(settings, context, opens));

/** Returns the first lines of a conversation, broken between words. */
export const greetingOf = ({ about }: Chat, { unguarded: output }: Printer): string => {
  // A terminal that does not know its width says 0.
  const columns = ("columns" in output && typeof output.columns === "number" && output.columns) || Infinity;
  const rows = wrapped([{ text: `${about}; /help lists the commands`, roles: [] }], columns);
  return rows.map((row) => row.map(({ text }) => text).join("")).join("\n");
};

const chatOf = async (settings: Settled, context: CommandContext, opens: Opens): Promise<Omit<Chat, "close">> => {
  const { options, pricing, systemIsForNew } = settings;
  const { ask, provider, system, ...opened } = await openedHost(settings, context, opens);
  const models = modelChoice(options.model, provider, pricing);
  const threadId = await threadIdOf(options, opened.host, context);
  if (system !== undefined && !systemIsForNew) await useSystem(opened.host.thread(threadId), system);
  const output = outputOf(options);
  return { ...opened, threadId, models, ask: (input, id) => ask(input, id, { ...models.asked(), ...output }) };
};

type Wanted = Pick<AskOptions<OutputSchema>, "output">;

/** Returns the output that answers must have. @throws ArgumentError if the file has no JSON Schema */
const outputOf = ({ schema: file, provider }: Pick<OptionValues, "schema" | "provider">): Wanted => {
  if (file === undefined) return {};
  const jsonSchema = schemaIn(readTextFile(file));
  if (jsonSchema === null)
    throw new ArgumentError(`--schema "${file}" has no JSON Schema; one is an object such as {"type":"object"}`);
  const name = basename(file, extname(file)).replaceAll(/[^\w-]/g, "_");
  // Only objects fit what servers call structured outputs, and text completion has none.
  const mode = jsonSchema["type"] === "object" && provider !== "completion" ? "native" : "prompted";
  return { output: { name: name.slice(0, 64), schema: { jsonSchema }, mode } };
};

const schemaIn = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    // Cast: parsed JSON that is an object and no list.
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
};

/** An existing thread has its own system prompt. */
const useSystem = async (thread: HostedThread, system: string): Promise<void> => {
  const isOther = await thread.look(({ context: { conversation } }) => {
    const present = conversation.system;
    return present === null || textOf(present) !== system;
  });
  if (isOther === true) await thread.changeSystem(system);
};

/** The choice of the model: any model of the provider, by name; those that it lists, or that have prices, are offered. */
interface ModelChoice extends Choice {
  /** Returns the model option of an ask; empty if no model was chosen. */
  readonly asked: () => Pick<AskOptions, "model">;
}

/** @param given the name that the user gave */
const modelChoice = (
  given: string | undefined,
  { model: otherwise, listed }: Provider,
  pricing: MachineOptions["pricing"],
): ModelChoice => {
  let chosen = given;
  const priced = Object.keys(pricing?.options["models"] ?? {});
  return {
    names: async () => [...new Set([otherwise, ...priced, ...((await listed?.()) ?? [])])],
    present: () => chosen ?? otherwise,
    choose: (name) => void (chosen = name),
    asked: () => (chosen === undefined ? {} : { model: { model: chosen } }),
  };
};

type ThreadOptions = Pick<OptionValues, "thread" | "continue" | "resume" | "session" | "store" | "approve" | "deny">;

/**
 * Returns the id of the thread that the options name.
 *
 * @throws ArgumentError if they contradict each other, or name a thread that does not exist
 */
const threadIdOf = async (
  options: ThreadOptions,
  host: Host,
  context: Pick<CommandContext, "input" | "printer" | "isTerminal" | "signal">,
): Promise<string> => {
  const { thread, session, resume } = options;
  const way = options.continue === true ? "--continue" : resume === undefined ? null : "--resume";
  if (way !== null && (options.store ?? session) === undefined)
    throw new ArgumentError(
      `${way} needs a store that keeps threads: give --store or --session, or name a "store" in your settings`,
    );
  if (thread !== undefined) return host.thread(thread).id;
  // The id of an approval begins with its thread's id.
  const [, ofApproval] = /^(.+)\/[^/]*$/s.exec(options.approve ?? options.deny ?? "") ?? [];
  if (ofApproval !== undefined) return callerOf(host, ofApproval);
  if (options.continue === true || (session !== undefined && resume === undefined)) {
    const [newest] = await newestThreads(host, 1);
    if (newest !== undefined) return newest.threadId;
    if (session !== undefined) return "chat";
    throw new ArgumentError("there is no thread to --continue in the store yet; leave it out to begin one");
  }
  if (resume === undefined) return "chat";
  if (resume === "") return chosenThread(host, context);
  if ((await host.thread(resume).look(() => true)) === null)
    throw new ArgumentError(`there is no thread ${named(resume)} to --resume; --thread begins one of that id`);
  return resume;
};

const newestThreads = async (host: Host, count: number): Promise<readonly StoredThread[]> => {
  let newest: readonly StoredThread[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await host.threads(after === undefined ? {} : { after });
    newest = [...newest, ...page.threads.filter(({ metadata }) => metadata["parentThread"] === undefined)]
      .toSorted((one, other) => other.updatedAt - one.updatedAt)
      .slice(0, count);
    after = page.next;
  }
  return newest;
};

const chosenThread = async (
  host: Host,
  { input, printer, isTerminal, signal }: Pick<CommandContext, "input" | "printer" | "isTerminal" | "signal">,
): Promise<string> => {
  if (!isTerminal)
    throw new ArgumentError(
      "--resume needs the id of a thread, since there is no terminal to choose one in; --continue takes the newest",
    );
  const threads = await newestThreads(host, 20);
  if (threads.length === 0) throw new ArgumentError("there is no thread to --resume in the store yet");
  for (const [index, { threadId, updatedAt }] of threads.entries())
    printer.line(
      `${String(index + 1).padStart(2)}  ${named(threadId)}  ${new Date(updatedAt).toLocaleString()}  ${await firstQuestion(host, threadId)}`,
    );
  const reader = createInterface({ input, output: printer.unguarded, terminal: true });
  const left = new AbortController();
  // Readline receives Ctrl+C and Ctrl+D, and the process does not.
  for (const event of ["SIGINT", "close"] as const) reader.on(event, () => left.abort());
  const ending = AbortSignal.any([signal, left.signal]);
  try {
    for (;;) {
      const answer = (await reader.question(`Which one? 1 to ${threads.length}: `, { signal: ending })).trim();
      const chosen = /^\d+$/.test(answer) ? threads[Number(answer) - 1] : undefined;
      if (chosen !== undefined) return chosen.threadId;
    }
  } catch (thrown) {
    if (!ending.aborted) throw thrown;
    printer.endLine();
    throw new InterruptedError("no thread was chosen", { cause: thrown });
  } finally {
    reader.close();
  }
};

/** Returns the first question of a thread, so that a person can recognise it. */
const firstQuestion = async (host: Host, threadId: string): Promise<string> =>
  firstWords((await host.thread(threadId).look(firstQuestionIn)) ?? "", 50);
