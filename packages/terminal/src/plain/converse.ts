import type { Readable, Writable } from "node:stream";
import type { Host } from "@colloquy/host";
import type { Choice } from "../commands/command.ts";
import { pipedLines } from "./lines.ts";
import { Printer } from "../text/printer.ts";
import type { TerminalAsk } from "../conversation/answering.ts";
import type { AnswerLook } from "./answer.ts";
import { PlainConversation } from "./plain-conversation.ts";
import { typedLines } from "./typed-lines.ts";

/** What a conversation in a terminal, or over a pipe, is made from. */
export interface ConverseOptions extends Partial<Pick<AnswerLook, "errors" | "streams" | "detail" | "labels">> {
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
  /** Asked at the beginning. */
  readonly question?: string;
  readonly models?: Choice;
  /** Lines that are shown behind the figures of a turn. Default: none. */
  readonly notes?: (threadId: string, turn: number) => Promise<readonly string[]>;
}

/** How a conversation ended. */
export interface ConverseOutcome {
  /** The thread that it ended on. */
  readonly threadId: string;
  /** How many questions and commands came to an error. Cancelled answers are none. */
  readonly failures: number;
  /** Of them, those that a limit or the window of the model ended. */
  readonly limits: number;
  /** Tool calls that wait for an approval and that nobody was there to approve, by their ids. */
  readonly approvals: readonly string[];
  /** Whether a signal ended it. */
  readonly interrupted: boolean;
}

/**
 * A conversation, question by question, until the input ends or the user quits. Answers are shown as they stream in,
 * each with its time, steps and tokens; at the end the total of the thread. `/help` lists the commands. Nothing but answers is
 * printed on `output` where there are `errors`. Ctrl+C
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
  const { host, threadId, input, isTerminal, signal, errors = printer, newThreadId } = options;
  const lines = (isTerminal ? typedLines : pipedLines)({
    input,
    printer,
    prompt: options.labels === true ? "You: " : "> ",
    isRepeated: errors === printer,
  });
  const conversation = new PlainConversation(
    {
      host,
      threadId,
      printer,
      errors,
      isTerminal,
      streams: options.streams ?? true,
      detail: options.detail ?? "some",
      labels: options.labels ?? false,
      ask: options.ask ?? ((text: string, id: string): TerminalAsk => host.thread(id).ask(text)),
      notes: options.notes ?? (async (): Promise<readonly string[]> => []),
      question: options.question ?? "",
      models: options.models ?? null,
      ...(newThreadId === undefined ? {} : { newThreadId }),
    },
    lines,
  );
  const end = (): void => conversation.end();
  signal?.addEventListener("abort", end);
  try {
    if (signal?.aborted !== true) await conversation.run();
  } finally {
    signal?.removeEventListener("abort", end);
    lines.close();
  }
  const { failures, limits, approvals } = conversation;
  return { threadId: conversation.thread.id, failures, limits, approvals, interrupted: signal?.aborted === true };
};
