import {
  type Host,
  type HostedThread,
  TurnCancelledError,
  TurnError,
  ContextUnfitError,
  LimitReachedError,
  type AskPart,
} from "@colloquy/host";
import { type RequestApproval, turnNumbered, toArray } from "@colloquy/machine";
import { openingOf } from "../conversation/opening.ts";
import type { Choice, CommandTarget } from "../commands/command.ts";
import { commandIn, performCommand } from "../commands/commands.ts";
import type { TerminalAsk } from "../conversation/answering.ts";
import type { TerminalConversationOptions } from "../conversation/options.ts";
import { failureText } from "../text/failure-text.ts";
import { figuresOf, counted, tokensOf, totalOf } from "../text/figures.ts";
import { approvable, approvableJson, named, oneLine } from "../text/printable.ts";
import type { Printer } from "../text/printer.ts";
import type { Lines } from "./lines.ts";
import { textOfLine } from "../text/line.ts";
import { noteOf } from "../text/notice.ts";

interface ConversationSetting extends Omit<AnswerLook, "approve"> {
  readonly host: Host;
  readonly threadId: string;
  /** Whether a person is there to answer approvals. */
  readonly isTerminal: boolean;
  readonly newThreadId?: () => string | Promise<string>;
  /** A question to ask at the beginning; empty for none. */
  readonly question: string;
  readonly models: Choice | null;
  readonly changeOf: NonNullable<TerminalConversationOptions["changeOf"]>;
  readonly ask: (text: string, threadId: string) => TerminalAsk;
  readonly notes: (threadId: string, turn: number) => Promise<readonly string[]>;
}

/** A running conversation: on one thread at a time, line by line. */
export class PlainConversation {
  failures = 0;
  /** The number of these failures that a limit or the model's window caused. */
  limits = 0;
  /** The ids of tool calls that nobody was there to approve. */
  readonly approvals: string[] = [];
  #thread: HostedThread;
  readonly #setting: ConversationSetting;
  readonly #lines: Lines;
  #asked: TerminalAsk | null = null;
  readonly #trusted = new Set<string>();

  constructor(setting: ConversationSetting, lines: Lines) {
    this.#thread = setting.host.thread(setting.threadId);
    this.#setting = setting;
    this.#lines = lines;
    lines.onInterrupt = () => this.#asked?.abort();
  }

  get thread(): HostedThread {
    return this.#thread;
  }

  async run(): Promise<void> {
    const { question } = this.#setting;
    await this.#attempt(() => this.#open());
    if (question !== "") await this.#attempt(() => this.#answer(this.#setting.ask(question, this.thread.id)));
    for (let line = await this.#lines.next(); line !== null; line = await this.#lines.next()) {
      const text = line.trim();
      if (text === "") continue;
      const command = commandIn(text);
      await this.#attempt(() =>
        command === null
          ? this.#answer(this.#setting.ask(text, this.thread.id))
          : performCommand(this.#target(), command),
      );
      if (this.approvals.length > 0) break;
    }
    await this.#attempt(() => showTotal(this.#notes, this.thread));
  }

  /** Cancels the running answer, and reads no further line. */
  end(): void {
    this.#asked?.abort();
    this.#lines.close();
  }

  get #notes(): Printer {
    return this.#setting.errors;
  }

  /** Switches to another thread, and releases the one before. */
  async #turnTo(threadId: string): Promise<void> {
    const next = this.#setting.host.thread(threadId);
    if (next.id !== this.thread.id) await this.thread.close();
    this.#thread = next;
    await this.#open();
  }

  /** Describes the thread. Shows its open turn if a person is at the terminal. */
  async #open(): Promise<void> {
    await showThread(this.#notes, this.thread);
    const found = this.#setting.isTerminal ? await this.thread.look(openingOf) : null;
    const open = found?.open ?? null;
    if (open !== null) await this.#answer(this.thread.rejoin(open.askId));
  }

  #target(): ReturnType<typeof plainTarget> {
    const { host, newThreadId, models } = this.#setting;
    return plainTarget({
      host,
      thread: this.thread,
      printer: this.#notes,
      turnTo: (threadId) => this.#turnTo(threadId),
      models,
      ...(newThreadId === undefined ? {} : { newThreadId }),
      end: () => this.end(),
    });
  }

  async #answer(asked: TerminalAsk): Promise<void> {
    this.#asked = asked;
    try {
      const isAnswered = await showAnswer(asked, { ...this.#setting, approve: (request) => this.#approve(request) });
      if (isAnswered) await this.#showFigures((await asked).turn);
    } catch (thrown) {
      this.#showFailure(thrown);
      if (thrown instanceof TurnError && thrown.summary.turn !== null) await this.#showFigures(thrown.summary.turn);
    } finally {
      this.#asked = null;
      if (this.#setting.labels && this.#setting.isTerminal) this.#notes.bell();
    }
  }

  /** Asks whether a call may run. Returns false if nobody is there to answer. */
  async #approve({ id, digest, name, arguments: given, because }: RequestApproval): Promise<boolean> {
    const isDeclared = because === "declared";
    if (isDeclared && this.#trusted.has(name)) return this.thread.approve(id, { digest }).then(() => true);
    const again = isDeclared ? "" : ", which may have run already";
    const label = this.#setting.labels ? "Approval: " : "";
    this.#notes.line(`${label}${oneLine(name)} ${approvableJson(given)} waits for an approval${again}: ${named(id)}`);
    const change = this.#setting.isTerminal ? this.#setting.changeOf(given) : null;
    if (change !== null)
      for (const each of [change.title, ...change.lines]) this.#notes.line(`  ${approvable(each)}`, "dim");
    if (this.#setting.isTerminal)
      this.#notes.line("y runs it; n doesn't, with a reason after it; always runs this tool while this process lives");
    for (let line = await this.#lines.answer(); line !== null; line = await this.#lines.answer()) {
      const [, denial, reason = ""] = /^(no?)(?:[\s,:]+(.*))?$/i.exec(line.trim()) ?? [];
      if (denial !== undefined)
        return this.thread.deny(id, { digest, ...(reason === "" ? {} : { reason }) }).then(() => true);
      if (/^\s*always\s*$/i.test(line)) this.#trusted.add(name);
      else if (!/^\s*(y|yes)\s*$/i.test(line)) {
        this.#notes.line("y, n or always?");
        continue;
      }
      return this.thread.approve(id, { digest }).then(() => true);
    }
    this.approvals.push(id);
    return false;
  }

  async #showFigures(number: number): Promise<void> {
    const figures = await this.thread.look((state) => {
      const turn = turnNumbered(state, number);
      return turn === undefined ? null : figuresOf(turn);
    });
    if (figures === null || this.#setting.detail === "none") return;
    this.#notes.line(figures, "dim");
    for (const note of await this.#setting.notes(this.thread.id, number)) this.#notes.line(note, "dim");
  }

  async #attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (thrown) {
      this.#showFailure(thrown);
    }
  }

  #showFailure(thrown: unknown): void {
    if (thrown instanceof TurnCancelledError) return this.#notes.line(failureText(thrown), "dim");
    this.failures++;
    if (thrown instanceof LimitReachedError || thrown instanceof ContextUnfitError) this.limits++;
    this.#notes.line(`error: ${failureText(thrown)}`, "red");
  }
}

const showThread = async (printer: Printer, thread: HostedThread): Promise<void> => {
  const found = await thread.look(openingOf);
  if (found === null) return printer.line(`new thread ${named(thread.id)}`, "dim");
  const turns = counted(found.turns, "turn");
  printer.line(`continuing thread ${named(thread.id)}: ${turns}, ${tokensOf(found.usage)}`, "dim");
  // A lease in force proves no more than this, because its holder may have died already.
  if (found.open !== null)
    printer.line(
      "  its last turn is open: another process is answering it, or died at it; the next question comes after it",
      "dim",
    );
};

/** Shows the usage of a whole thread; nothing for a thread without asks. */
const showTotal = async (printer: Printer, thread: HostedThread): Promise<void> => {
  const state = await thread.state();
  if (state !== null)
    printer.line(
      `thread ${named(thread.id)}: ${totalOf(toArray(state.context.conversation.turns), state.context.usage.total)}`,
      "dim",
    );
};

/** The options of a command target that only prints lines. */
export interface PlainTargetOptions {
  readonly host: Host;
  readonly thread: HostedThread;
  readonly printer: Printer;
  readonly turnTo: (threadId: string) => Promise<void>;
  /** Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  readonly end: () => void;
  readonly models: Choice | null;
}

/** Makes a command target that prints views and texts, line by line. */
export const plainTarget = ({
  host,
  thread,
  printer,
  turnTo,
  newThreadId,
  end,
  models,
}: PlainTargetOptions): CommandTarget => {
  const say = (text: string): void => printer.line(text, "dim");
  return {
    host,
    thread,
    say,
    open: (view) => {
      const { lines } = view.show({ columns: 100, rows: allRows });
      // A view ends with empty rows and key hints, which are not printed.
      const last = lines.slice(0, -1).findLastIndex((line) => line.length > 0);
      for (const line of lines.slice(0, last + 1)) printer.line(textOfLine(line));
    },
    propose: say,
    turnTo,
    newThreadId: newThreadId ?? ((): string => host.thread("new").id),
    // There is no clipboard.
    copy: (text) => printer.line(text),
    keys: () => [["ctrl+c", "cancels an answer; at the prompt it ends the conversation"]],
    end,
    models,
    themes: null,
  };
};

const allRows = 100_000;

export interface AnswerLook {
  readonly printer: Printer;
  /** The printer for everything except answers: the same, or another. */
  readonly errors: Printer;
  /** Whether answers are shown as they stream in. */
  readonly streams: boolean;
  /** The amount of output beside answers. */
  readonly detail: "none" | "some" | "all";
  /** Whether text labels name each kind of output, for users of screen readers. */
  readonly labels: boolean;
  /** Answers an approval. Returns false if nobody answers it. */
  readonly approve: (request: RequestApproval) => Promise<boolean>;
}

/**
 * Shows an answer as it streams in. Rejects with the error that replaces it; returns false if the turn still waits for
 * an approval.
 */
const showAnswer = async (asked: TerminalAsk, look: AnswerLook): Promise<boolean> => {
  const { printer, errors, streams } = look;
  let before: AskPart["type"] | undefined;
  let isShown = false;
  for await (const part of asked) {
    if (before === "reasoning.delta" && part.type !== before) errors.endLine();
    // Text before tool calls does not continue after them.
    if (part.type === "step.started") printer.endLine();
    const isText = part.type === "text.delta" || part.type === "refusal.delta";
    if (isText && streams) {
      if (!isShown && look.labels) printer.line("Agent:");
      isShown = true;
      printer.text(part.text);
    } else if (part.type === "approval.requested") {
      if (!(await look.approve(part.request))) return false;
    } else if (part.type === "reasoning.delta") {
      // Without colours, thinking would look like the answer.
      if (!errors.colour || !streams || look.detail === "none") continue;
      if (before !== part.type && look.labels) errors.line("Thinking:");
      errors.text(part.text, "dim");
    } else showNote(part, look);
    if (part.type === "step.started" || part.type === "thread.lost") isShown = false;
    before = part.type;
  }
  const { text } = await asked;
  // If another process answers, only its journalled text is available.
  if (!isShown) printer.text(look.labels ? `Agent:\n${text}` : text);
  printer.endLine();
  return true;
};

const showNote = (part: AskPart, { printer, errors, detail, labels }: AnswerLook): void => {
  const note = detail === "none" ? null : noteOf(part, detail === "all");
  if (note === null) return;
  printer.endLine();
  const label = part.type === "toolCall" || part.type === "toolResult" ? "Tool:" : "Note:";
  errors.line(`${labels ? label : " "} ${note}`, "dim");
};
