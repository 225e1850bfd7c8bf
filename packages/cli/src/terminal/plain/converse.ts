import { type Readable, Writable } from "node:stream";
import type { Host } from "@colloquy/host";
import type { Content } from "@colloquy/machine";
import type { TerminalConversationOptions } from "../conversation/options.ts";
import type { Choice } from "../commands/command.ts";
import { pipedLines, type Lines, type LinesSource } from "./lines.ts";
import { Printer } from "../text/printer.ts";
import type { TerminalAsk } from "../conversation/answering.ts";
import { type AnswerLook, PlainConversation } from "./plain-conversation.ts";
import { createInterface, type Interface } from "node:readline";

/** The options of a conversation in a terminal, or over a pipe. */
export interface ConverseOptions
  extends
    Partial<Pick<AnswerLook, "errors" | "streams" | "detail" | "labels">>,
    Pick<TerminalConversationOptions, "attachments" | "changeOf"> {
  /** Stays open afterwards. */
  readonly host: Host;
  /** The thread to continue or begin. */
  readonly threadId: string;
  readonly input: Readable;
  readonly output: Writable;
  /** Whether a person types at a terminal; otherwise each line of the input is a question. */
  readonly isTerminal: boolean;
  /** Default: none. See `wantsColour`. */
  readonly colour?: boolean;
  /** Ends the conversation: the open turn is cancelled, and no further line is read. */
  readonly signal?: AbortSignal;
  /** Returns the id of a thread for `/new`. Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  /** Asks on the thread of an id. Default: without options. */
  readonly ask?: (input: Content, threadId: string) => TerminalAsk;
  /** A question to ask at the beginning. */
  readonly question?: string;
  readonly models?: Choice;
  /** Returns lines to show after the figures of a turn. Default: none. */
  readonly notes?: (threadId: string, turn: number) => Promise<readonly string[]>;
}

/** The outcome of a conversation. */
export interface ConverseOutcome {
  /** The last thread of the conversation. */
  readonly threadId: string;
  /** The number of failed questions and commands. Cancelled answers do not count. */
  readonly failures: number;
  /** The number of these that a limit or the model's window ended. */
  readonly limits: number;
  /** The ids of tool calls that still wait for an approval, because nobody was there to answer. */
  readonly approvals: readonly string[];
  /** Whether a signal ended the conversation. */
  readonly interrupted: boolean;
}

/**
 * Converses, question by question, until the input ends or the user quits. Answers are shown as they stream in, each
 * with its time, steps and tokens; the total of the thread is shown at the end. `/help` lists the commands. With
 * `errors`, `output` gets only answers. Ctrl+C cancels an answer, whose shown part is kept; at the prompt it ends the
 * conversation. An error is shown in one line, and the conversation continues: a failed turn does not reject the
 * promise.
 */
export const converse = ({ output, colour = false, ...setting }: ConverseOptions): Promise<ConverseOutcome> =>
  converseOn(new Printer(output, colour), setting);

/** Does the same on an existing printer. */
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
      ask: (text, id) => {
        const input = options.attachments?.contentOf(text) ?? text;
        return options.ask?.(input, id) ?? host.thread(id).ask(input);
      },
      notes: options.notes ?? (async (): Promise<readonly string[]> => []),
      question: options.question ?? "",
      models: options.models ?? null,
      changeOf: options.changeOf ?? ((): null => null),
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

/**
 * Returns the lines that the user types at a terminal, with editing keys and history. Text that is typed while no
 * caller waits for a line is hidden then, and appears at the next prompt. Ctrl+C at the prompt ends the lines, and so
 * does Ctrl+D.
 */
const typedLines = (source: LinesSource): Lines => {
  const gate = new Gate(source.printer.unguarded);
  const reader = createInterface({ input: source.input, output: gate, terminal: true, prompt: source.prompt });
  return new TypedLines(source, gate, reader);
};

class TypedLines implements Lines {
  onInterrupt: (() => void) | null = null;
  readonly #source: LinesSource;
  readonly #gate: Gate;
  readonly #reader: Interface;
  /** Lines that were typed ahead. */
  readonly #lines: string[] = [];
  #waiting: ((line: string | null) => void) | null = null;
  #closed = false;

  constructor(source: LinesSource, gate: Gate, reader: Interface) {
    this.#source = source;
    this.#gate = gate;
    this.#reader = reader;
    reader.on("line", (line) => {
      if (this.#waiting === null) this.#lines.push(line);
      else this.#give(line);
    });
    reader.on("SIGINT", () => {
      if (this.#waiting === null) this.onInterrupt?.();
      else this.close();
    });
    reader.on("close", () => {
      this.#closed = true;
      this.#gate.detach();
      if (this.#waiting === null) return;
      // The cursor is after the prompt.
      this.#source.printer.text("\n");
      this.#give(null);
    });
  }

  next(): Promise<string | null> {
    const typed = this.#lines.shift();
    if (typed !== undefined) {
      this.#source.printer.line(`${this.#source.prompt}${typed}`);
      return Promise.resolve(typed);
    }
    return this.#typed();
  }

  async answer(): Promise<string | null> {
    const begun = this.#reader.line;
    for (const name of ["e", "u"]) this.#reader.write(null, { ctrl: true, name });
    const line = await this.#typed();
    if (begun !== "" && !this.#closed) this.#reader.write(begun);
    return line;
  }

  #typed(): Promise<string | null> {
    if (this.#closed) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#gate.isOpen = true;
      this.#reader.prompt(true);
    });
  }

  close(): void {
    this.#reader.close();
  }

  #give(line: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#gate.isOpen = false;
    waiting?.(line);
  }
}

/** Passes readline's output on, or drops it, so that typed text does not appear in an answer. */
class Gate extends Writable {
  isOpen = false;
  readonly #output: Writable & { readonly columns?: number };
  readonly #onResize = (): void => {
    this.emit("resize");
  };

  constructor(output: Writable) {
    super({ decodeStrings: false });
    this.#output = output;
    output.on("resize", this.#onResize);
  }

  /** Readline wraps lines at this width. */
  get columns(): number | undefined {
    return this.#output.columns;
  }

  detach(): void {
    this.#output.off("resize", this.#onResize);
  }

  override _write(chunk: string, _encoding: BufferEncoding, callback: () => void): void {
    if (this.isOpen) this.#output.write(chunk);
    callback();
  }
}
