import { type AskHandle, type Host, type HostedThread, TurnCancelledError, TurnError } from "@colloquy/host";
import { type Json, turnNumbered } from "@colloquy/machine";
import { showAnswer } from "./answer.ts";
import { failureText } from "../text/failure-text.ts";
import { figuresOf } from "../text/figures.ts";
import type { Lines } from "./lines.ts";
import type { Printer } from "../text/printer.ts";
import { performCommand } from "./slash-commands.ts";
import { showThread, showTotal } from "./thread-summary.ts";

/** An ask whose answer is shown: for a text, or for an output that is checked. */
export type TerminalAsk = AskHandle | AskHandle<Json>;

/** What a conversation goes on with. */
export interface ConversationSetting {
  readonly host: Host;
  readonly threadId: string;
  readonly printer: Printer;
  readonly newThreadId: () => string | Promise<string>;
  readonly ask: (text: string, threadId: string) => TerminalAsk;
  readonly notes: (threadId: string, turn: number) => Promise<readonly string[]>;
}

/** A conversation that is under way: on one thread at a time, line by line. */
export class TerminalConversation {
  readonly printer: Printer;
  failures = 0;
  #thread: HostedThread;
  readonly #setting: ConversationSetting;
  readonly #lines: Lines;
  /** What is being answered. */
  #asked: TerminalAsk | null = null;

  constructor(setting: ConversationSetting, lines: Lines) {
    this.printer = setting.printer;
    this.#thread = setting.host.thread(setting.threadId);
    this.#setting = setting;
    this.#lines = lines;
    lines.onInterrupt = () => this.#asked?.abort();
  }

  get thread(): HostedThread {
    return this.#thread;
  }

  async run(): Promise<void> {
    await this.#attempt(() => showThread(this.printer, this.thread));
    for (let line = await this.#lines.next(); line !== null; line = await this.#lines.next()) {
      const text = line.trim();
      if (text === "") continue;
      await this.#attempt(() => (text.startsWith("/") ? performCommand(this, text) : this.#ask(text)));
    }
    await this.#attempt(() => showTotal(this.printer, this.thread));
  }

  /** Cancels what is being answered, and reads no further line. */
  end(): void {
    this.#asked?.abort();
    this.#lines.close();
  }

  /** Goes on with a thread that is not there yet. */
  async turnToNew(): Promise<void> {
    await this.turnTo(await this.#setting.newThreadId());
  }

  /** Goes on with another thread; the one before is let go. */
  async turnTo(threadId: string): Promise<void> {
    const next = this.#setting.host.thread(threadId);
    if (next.id !== this.thread.id) await this.thread.close();
    this.#thread = next;
    await showThread(this.printer, next);
  }

  async #ask(text: string): Promise<void> {
    const asked = this.#setting.ask(text, this.thread.id);
    this.#asked = asked;
    try {
      await showAnswer(this.printer, asked);
      await this.#showFigures((await asked).turn);
    } catch (thrown) {
      this.#showFailure(thrown);
      if (thrown instanceof TurnError && thrown.summary.turn !== null) await this.#showFigures(thrown.summary.turn);
    } finally {
      this.#asked = null;
    }
  }

  async #showFigures(number: number): Promise<void> {
    const state = await this.thread.state();
    const turn = state === null ? undefined : turnNumbered(state, number);
    if (turn === undefined) return;
    this.printer.line(figuresOf(turn), "dim");
    for (const note of await this.#setting.notes(this.thread.id, number)) this.printer.line(note, "dim");
  }

  async #attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (thrown) {
      this.#showFailure(thrown);
    }
  }

  #showFailure(thrown: unknown): void {
    if (thrown instanceof TurnCancelledError) return this.printer.line(failureText(thrown), "dim");
    this.failures++;
    this.printer.line(`error: ${failureText(thrown)}`, "red");
  }
}
