import {
  type Host,
  type HostedThread,
  TurnCancelledError,
  TurnError,
  ContextUnfitError,
  LimitReachedError,
} from "@colloquy/host";
import { type RequestApproval, turnNumbered, type State, toArray, type Turn, turnsOf } from "@colloquy/machine";
import type { Choice } from "../commands/command.ts";
import { commandIn, performCommand } from "../commands/commands.ts";
import type { TerminalAsk } from "../conversation/answering.ts";
import { failureText } from "../text/failure-text.ts";
import { figuresOf, counted, tokensOf, totalOf } from "../text/figures.ts";
import { approvableJson, named, oneLine } from "../text/printable.ts";
import type { Printer } from "../text/printer.ts";
import { type AnswerLook, showAnswer } from "./answer.ts";
import type { Lines } from "./lines.ts";
import { plainTarget } from "./plain-target.ts";

/** The setting of a conversation. */
export interface ConversationSetting extends Omit<AnswerLook, "approve"> {
  readonly host: Host;
  readonly threadId: string;
  /** Whether a person is there to answer approvals. */
  readonly isTerminal: boolean;
  readonly newThreadId?: () => string | Promise<string>;
  /** A question to ask at the beginning; empty for none. */
  readonly question: string;
  readonly models: Choice | null;
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
  /** The running ask. */
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
    const state = this.#setting.isTerminal ? await this.thread.state() : null;
    const asked = state?.context.open?.asks[0];
    if (asked !== undefined) await this.#answer(this.thread.rejoin(asked.askId));
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
    if (this.#setting.isTerminal)
      this.#notes.line("y runs it; n doesn't, with a reason behind it; always runs this tool while this process lives");
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
    const state = await this.thread.state();
    const turn = state === null ? undefined : turnNumbered(state, number);
    if (turn === undefined || this.#setting.detail === "none") return;
    this.#notes.line(figuresOf(turn), "dim");
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

/** Describes a thread and its content. */
const showThread = async (printer: Printer, thread: HostedThread): Promise<void> => {
  const state = await thread.state();
  if (state === null) return printer.line(`new thread ${named(thread.id)}`, "dim");
  const turns = counted(turnsOf(state).length, "turn");
  printer.line(`continuing thread ${named(thread.id)}: ${turns}, ${tokensOf(state.context.usage.total)}`, "dim");
  // A lease in force proves no more than this, because its holder may have died already.
  if (state.context.open !== null)
    printer.line(
      "  its last turn is open: another process is answering it, or died at it; the next question comes after it",
      "dim",
    );
};

/** Shows the usage of a whole thread; nothing for a thread without asks. */
const showTotal = async (printer: Printer, thread: HostedThread): Promise<void> => {
  const state = await thread.state();
  if (state !== null)
    printer.line(`thread ${named(thread.id)}: ${totalOf(allTurns(state), state.context.usage.total)}`, "dim");
};

const allTurns = ({ context }: State): readonly Turn[] => toArray(context.conversation.turns);
