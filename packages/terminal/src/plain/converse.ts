import type { Readable, Writable } from "node:stream";
import type { Host } from "@colloquy/host";
import { pipedLines } from "./lines.ts";
import { Printer } from "../text/printer.ts";
import { type TerminalAsk, TerminalConversation } from "./terminal-conversation.ts";
import { typedLines } from "./typed-lines.ts";

/** What a conversation in a terminal, or over a pipe, is made from. */
export interface ConverseOptions {
  /** Stays open afterwards. */
  readonly host: Host;
  /** The thread that is continued, or begun. */
  readonly threadId: string;
  readonly input: Readable;
  readonly output: Writable;
  /** Whether a person types at a terminal; otherwise each line of the input is a question. */
  readonly isTerminal: boolean;
  /** Default: none. See `wantsColour`. */
  readonly colour?: boolean;
  /** Ends it: the open turn is cancelled, and no further line is read. */
  readonly signal?: AbortSignal;
  /** What `/new` calls a thread. Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  /** How a line is asked on the thread of an id. Default: as a text. */
  readonly ask?: (text: string, threadId: string) => TerminalAsk;
  /** Lines that are shown behind the figures of a turn. Default: none. */
  readonly notes?: (threadId: string, turn: number) => Promise<readonly string[]>;
}

/** How a conversation ended. */
export interface ConverseOutcome {
  /** The thread that it ended on. */
  readonly threadId: string;
  /** How many questions and commands came to an error. Cancelled answers are none. */
  readonly failures: number;
}

/**
 * A conversation, question by question, until the input ends or the user quits. Answers are shown as they stream in,
 * each with its time, steps and tokens; at the end the total of the thread. `/help` lists the commands. Ctrl+C
 * cancels an answer, and what was shown of it is kept; at the prompt it ends the conversation. An error is shown in
 * one line, and the conversation goes on: the promise does not reject when a turn fails.
 */
export const converse = ({ output, colour = false, ...setting }: ConverseOptions): Promise<ConverseOutcome> =>
  converseOn(new Printer(output, colour), setting);

/** The same, on a printer that is there. */
export const converseOn = async (
  printer: Printer,
  options: Omit<ConverseOptions, "output" | "colour">,
): Promise<ConverseOutcome> => {
  const { host, threadId, input, isTerminal, signal } = options;
  const lines = (isTerminal ? typedLines : pipedLines)({ input, printer, prompt: "> " });
  const newThreadId = options.newThreadId ?? ((): string => host.thread("new").id);
  const ask = options.ask ?? ((text: string, threadId: string): TerminalAsk => host.thread(threadId).ask(text));
  const notes = options.notes ?? (async (): Promise<readonly string[]> => []);
  const conversation = new TerminalConversation({ host, threadId, printer, newThreadId, ask, notes }, lines);
  const end = (): void => conversation.end();
  signal?.addEventListener("abort", end);
  try {
    if (signal?.aborted !== true) await conversation.run();
  } finally {
    signal?.removeEventListener("abort", end);
    lines.close();
  }
  return { threadId: conversation.thread.id, failures: conversation.failures };
};
