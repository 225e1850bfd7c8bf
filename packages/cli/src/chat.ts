import type { Content } from "@colloquy/machine";
import {
  converseOn,
  converseOnScreen,
  failureText,
  keymapOf,
  named,
  suitsScreen,
  type HistoryPort,
  commandIn,
  performCommand,
  plainTarget,
} from "@colloquy/cli/terminal";
import { attachedText, attachmentsIn } from "./attachments.ts";
import { answersOn, formatOf, type Answers } from "./answers.ts";
import { type Chat, greetingOf, openedChat } from "./chat-host.ts";
import type { CommandContext } from "./command-context.ts";
import { ArgumentError, exitCodes, InterruptedError } from "./exit-code.ts";
import { fileChangesIn } from "./file-changes.ts";
import type { OptionValues } from "./options.ts";
import { withoutUser } from "./models.ts";
import { type Settled, settled } from "./settings.ts";
import { existsSync } from "node:fs";
import { appendFile, mkdir, rename, writeFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { shellIn } from "./shell.ts";
import { readTextFile, textOf } from "./text-file.ts";
import type { Readable } from "node:stream";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { commandWords } from "./chat-tools.ts";
import { createInterface } from "node:readline";
import { type Asked, exitCodeOfEnd, followed, nestedApprovals, type TurnEnd } from "./turn.ts";

/** Runs a conversation with a model on a server, or with the agent of a file. Returns the exit code. */
export const chat = async (words: readonly string[], given: OptionValues, context: CommandContext): Promise<number> => {
  const settings = settled(given, context);
  const { options } = settings;
  const { printer, errors, input, signal, isTerminal } = context;
  const format = formatOf(options["output-format"]);
  const detail = options.quiet === true ? "none" : options.verbose === true ? "all" : "some";
  const extracts = options.extract === true;
  const streams = context.outputIsTerminal && options["no-stream"] !== true && !extracts;
  const answers = answersOn(printer, errors, { format, streams, extracts, detail });
  const isAnswer = (options.approve ?? options.deny) !== undefined;
  const question = words.join(" ").trim();
  if (isAnswer && question !== "")
    throw new ArgumentError("--approve and --deny answer a tool call and take no question; ask it afterwards");
  if (words.length > 0 && question === "")
    throw new ArgumentError("the question is empty; ask something, or leave it out");
  const isAlone = question !== "" && options["multi-turn"] !== true;
  const converses = isTerminal && format === "text" && !isAlone && !isAnswer;
  if (converses && extracts)
    throw new ArgumentError(
      "--extract shows code without a conversation around it; give a question, or a pipe of them",
    );
  const attached = isAlone && !context.inputIsTerminal ? await attachmentFrom(input, signal) : null;
  const content = question === "" ? "" : await refusing(async () => contentOf(question, attached, context));
  const opened = await refusing(() => openedChat(settings, context));
  try {
    if (converses && detail !== "none") printer.line(greetingOf(opened, printer));
    else if (detail !== "none") errors.line(`${opened.about}; thread ${named(opened.threadId)}`);
    if (isAnswer) return await answerApproval(opened, options, answers, signal);
    if (converses) return await conversation(opened, { ...settings, given, question, detail }, context);
    const first = question === "" ? exitCodes.done : await askOnce(opened, content, answers, signal);
    return isAlone || signal.aborted ? first : await pipedQuestions(opened, answers, context, first);
  } finally {
    await opened.close();
  }
};

interface Conversed {
  /** The options of the command line alone. */
  readonly given: OptionValues;
  /** A question to ask at the beginning; empty for none. */
  readonly question: string;
  readonly detail: "none" | "some" | "all";
}

const conversation = async (
  { host, threadId, ask, notes, models, steers, notices, agent, store, waiting, onNestedApproval }: Chat,
  { given, options, isTrusted, ownKeys, historyFile: history, question, detail }: Settled & Conversed,
  { input, printer, isTerminal, environment, folder, signal }: CommandContext,
): Promise<number> => {
  const streams = options["no-stream"] !== true;
  const begun = { ...(notes === undefined ? {} : { notes }), ...(question === "" ? {} : { question }) };
  const here = folder ?? process.cwd();
  const files = { attachments: attachmentsIn(here), changeOf: fileChangesIn(here) };
  const shared = { host, threadId, input, signal, ask, ...files, models, detail, streams, ...begun };
  const labels = options["screen-reader"] === true;
  const output = printer.unguarded;
  let last = threadId;
  if (labels || !suitsScreen(output, environment)) {
    notices.show = (text) => {
      printer.endLine();
      text.split("\n").forEach((line) => printer.line(line, "dim"));
    };
    ({ threadId: last } = await converseOn(printer, { ...shared, isTerminal, labels }));
  } else {
    const editText = textEditor(environment);
    await converseOnScreen({
      ...shared,
      steers,
      shell: shellIn(here, isTrusted),
      nested: nestedApprovals({ waiting, onNestedApproval }),
      turnedTo: (id) => void (last = id),
      notices: (show) => void (notices.show = show),
      output,
      environment: options["no-color"] === true ? { ...environment, FORCE_COLOR: "0" } : environment,
      ...(options.theme === undefined ? {} : { theme: options.theme }),
      ...(options.keys === "seed" ? { agentLabel: agent?.name ?? models.present() } : {}),
      keymap: keymapOf(options.keys ?? "standard", ownKeys),
      ...(history === null ? {} : { history: historyFile(history) }),
      ...(editText === undefined ? {} : { editText }),
    });
  }
  const isKept = store !== null && (await host.thread(last).look(() => true)) !== null;
  if (isKept && detail !== "none") printer.line(`resume with \`${resumptionOf(given, store, last)}\``, "dim");
  return signal.aborted ? exitCodes.interrupted : exitCodes.done;
};

/** Returns the command that continues a thread with the same model and tools, without secrets in addresses. */
const resumptionOf = (given: OptionValues, store: string, threadId: string): string => {
  const place = given.session === undefined ? `--store ${quoted(store)}` : `--session ${quoted(given.session)}`;
  const again = givenAgain.flatMap((name) =>
    [given[name] ?? []].flat().map((value) => {
      const word = /^(?:base-url|mcp)$/.test(name) ? withoutSecretsWithin(`${value}`) : `${value}`;
      return ` --${name}${value === true ? "" : ` ${quoted(word)}`}`;
    }),
  );
  return `colloquy chat ${place} --resume ${quoted(threadId)}${again.join("")}`;
};

/** Returns a text without the users, passwords and queries of its addresses. */
const withoutSecretsWithin = (text: string): string =>
  withoutUser(text).replaceAll(/(:\/\/[^\s"'?#]*)[?#][^\s"']*/g, "$1");

const givenAgain = [
  ...(["agent", "react", "tools", "mcp", "allow-tools"] as const),
  ...(["provider", "base-url", "template", "model", "system", "window", "max-turns"] as const),
];

/** Quotes a word for a shell if necessary. */
const quoted = (word: string): string =>
  /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a question with the files that it names, and with what came from a pipe. */
const contentOf = (question: string, piped: string | null, { folder = process.cwd() }: CommandContext): Content => {
  const content = attachmentsIn(folder).contentOf(question);
  if (piped === null) return content;
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  return [...parts, attachedText("standard input", piped)];
};

/** Runs a function that opens a chat. Throws an unexpected error as an ArgumentError with its text. */
const refusing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (thrown) {
    const isReported = thrown instanceof ArgumentError || thrown instanceof InterruptedError;
    throw isReported ? thrown : new ArgumentError(failureText(thrown), { cause: thrown });
  }
};

/**
 * Returns a history in a file that only its owner may read, one JSON string per line. Loading drops all but the newest
 * `most` inputs if the file has more than twice as many.
 */
export const historyFile = (path: string, most = 1_000): HistoryPort => ({
  load: async () => {
    const inputs = existsSync(path) ? readTextFile(path).split("\n").flatMap(inputIn) : [];
    const newest = inputs.slice(-most);
    if (inputs.length > 2 * most) {
      // The rename lets other processes see the old file or the new one, never a part of it.
      await writeFile(`${path}.new`, newest.map(lineOf).join(""), { mode: 0o600 });
      await rename(`${path}.new`, path);
    }
    return newest;
  },
  append: async (text) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await appendFile(path, lineOf(text), { mode: 0o600 });
  },
});

const lineOf = (text: string): string => `${JSON.stringify(text)}\n`;

/** Returns the input of a line, in a list; an empty list if a crash cut the line off. */
const inputIn = (line: string): readonly string[] => {
  try {
    const input: unknown = JSON.parse(line);
    return typeof input === "string" ? [input] : [];
  } catch {
    return [];
  }
};

/**
 * Reads piped input, and returns it as a text to attach to the question; null if there is none.
 *
 * @throws ArgumentError if the input is not text, or is larger than a model is likely to accept
 */
const attachmentFrom = async (input: Readable, signal: AbortSignal): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (): void => void input.destroy();
  signal.addEventListener("abort", stop);
  try {
    for await (const chunk of input) {
      const bytes = Buffer.from(chunk as string | Buffer);
      size += bytes.length;
      if (size > sizeMax)
        throw new ArgumentError(
          `what comes from the pipe has more than ${sizeMax.toLocaleString("en")} bytes; attach the part that the question is about`,
        );
      chunks.push(bytes);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const text = textOf(Buffer.concat(chunks));
  if (text === null || text.includes("\0"))
    throw new ArgumentError("what comes from the pipe is binary, and not text in UTF-8; convert it to text first");
  return text.trim() === "" ? null : text;
};

const sizeMax = 1_000_000;

/**
 * Answers a tool call that waits for approval, and shows the rest of its turn. Returns the exit code.
 *
 * @throws ArgumentError if no such call waits
 */
const answerApproval = async (
  chat: Chat,
  { approve, deny, reason }: Pick<OptionValues, "approve" | "deny" | "reason">,
  answers: Answers,
  signal: AbortSignal,
): Promise<number> => {
  const id = approve ?? deny ?? "";
  const waiting = (await chat.waiting(chat.threadId)).approvals;
  const wanted = waiting.find(({ request }) => request.id === id);
  if (wanted === undefined) {
    const ids = waiting.map(({ request }) => named(request.id));
    throw new ArgumentError(
      `no tool call of thread ${named(chat.threadId)} waits for approval as ${named(id)}; ${ids.length === 0 ? "none waits" : `there are: ${ids.join(", ")}`}`,
    );
  }
  const { thread, request } = wanted;
  const { digest } = request;
  const answered =
    approve === undefined
      ? await thread.deny(id, { digest, ...(reason === undefined ? {} : { reason }) })
      : await thread.approve(id, { digest });
  // A subagent's turn continues on its own thread; the caller's turn is resumed to receive the result.
  const { turn } = thread.id === chat.threadId ? answered : await chat.host.thread(chat.threadId).resume();
  if (turn === null) return exitCodes.done;
  const { approvals, alone } = await chat.waiting(chat.threadId);
  // If the turn waits only for approvals, no more parts arrive.
  if (alone)
    return ended(chat, { status: "waiting", approvals: approvals.map(({ request }) => request) }, answers, signal);
  return shown(chat, turn, answers, signal);
};

/**
 * Returns a function that edits a text in the program that VISUAL or EDITOR names; undefined if neither variable is
 * set. The text is in a temporary file that only its owner may read. The function returns the edited text, or null if
 * the program failed.
 */
export const textEditor = (
  environment: Readonly<Record<string, string | undefined>>,
): ((text: string) => Promise<string | null>) | undefined => {
  const [program, ...args] = commandWords(environment["VISUAL"] || environment["EDITOR"] || "");
  if (program === undefined) return undefined;
  return async (text) => {
    const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
    try {
      const file = join(folder, "question.md");
      await writeFile(file, text, { mode: 0o600 });
      const code = await withoutInterrupts(
        () =>
          new Promise<number | null>((resolve, reject) => {
            spawn(program, [...args, file], { stdio: "inherit" })
              .once("error", reject)
              .once("close", resolve);
          }),
      );
      return code === 0 ? (await readFile(file, "utf8")).replace(/\r?\n$/, "") : null;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
};

/** Ignores Ctrl+C while another program runs: both processes receive it, and only that program should react. */
const withoutInterrupts = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  // Raw listeners include the wrappers of `once`, so such a listener still runs only once when it is restored.
  const listeners = process.rawListeners("SIGINT") as NodeJS.SignalsListener[];
  const ignore = (): void => {};
  process.removeAllListeners("SIGINT").on("SIGINT", ignore);
  try {
    return await run();
  } finally {
    process.off("SIGINT", ignore);
    for (const listener of listeners) process.on("SIGINT", listener);
  }
};

/**
 * Asks one question for each line until the input ends; a line that begins with a slash is a command. Returns the exit
 * code of the first failure.
 *
 * @param before the exit code of the question before the input
 */
const pipedQuestions = async (
  chat: Chat,
  answers: Answers,
  context: CommandContext,
  before: number,
): Promise<number> => {
  const { input, errors, signal } = context;
  let code = before;
  let { threadId } = chat;
  const reader = createInterface({ input, terminal: false, crlfDelay: Infinity });
  let isEnded = false;
  const end = (): void => {
    isEnded = true;
    reader.close();
  };
  signal.addEventListener("abort", end);
  const { host, models } = chat;
  const turnTo = async (id: string): Promise<void> => void (threadId = id);
  const perform = async (line: string): Promise<number> => {
    const command = commandIn(line);
    try {
      if (command === null)
        return await askOnce({ ...chat, threadId }, contentOf(line, null, context), answers, signal);
      await performCommand(
        plainTarget({ host, models, thread: host.thread(threadId), printer: errors, turnTo, end }),
        command,
      );
      return exitCodes.done;
    } catch (thrown) {
      errors.line(`error: ${failureText(thrown)}`);
      return exitCodes.failed;
    }
  };
  try {
    for await (const typed of reader) {
      const line = typed.trim();
      // A closed reader still returns the lines that it has read.
      if (isEnded || signal.aborted) break;
      if (line === "") continue;
      const outcome = await perform(line);
      if (code === exitCodes.done) code = outcome;
    }
  } finally {
    signal.removeEventListener("abort", end);
  }
  return signal.aborted ? exitCodes.interrupted : code;
};

const askOnce = (chat: Chat, input: Content, answers: Answers, signal: AbortSignal): Promise<number> =>
  shown(chat, chat.ask(input, chat.threadId), answers, signal);

const shown = async (chat: Chat, asked: Asked, answers: Answers, signal: AbortSignal): Promise<number> => {
  const abort = (): void => asked.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    const end = await followed(chat, asked, answers.part);
    return await ended(chat, end, answers, signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
};

const ended = async (chat: Chat, end: TurnEnd, answers: Answers, signal: AbortSignal): Promise<number> => {
  // After EPIPE, nobody reads the output.
  if (signal.reason !== "EPIPE") {
    const { host, threadId } = chat;
    const notes = end.status === "completed" ? await chat.notes?.(threadId, end.turn.turn) : undefined;
    await answers.end(end, { thread: host.thread(threadId), notes: notes ?? [], wayOut: wayOutOf(chat) });
  }
  return exitCodeOfEnd(end, signal);
};

const wayOutOf = ({ store }: Chat): string =>
  store === null
    ? "threads are not stored, so it cannot be answered later; give --store to store them"
    : `to answer, give the same options with --store ${named(store)} and --approve ID, or --deny ID, in place of a question`;
