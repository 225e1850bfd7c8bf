import { type Host, type HostedThread, TurnCancelledError } from "@colloquy/host";
import { turnNumbered } from "@colloquy/machine";
import type { Key } from "../input/key.ts";
import { failureText } from "../text/failure-text.ts";
import { agentFigures } from "../text/figures.ts";
import type { Line, Size } from "../text/line.ts";
import { Answering, type AnswerEnd, type TerminalAsk } from "./answering.ts";
import type { Block } from "./block.ts";
import { blockLines } from "./block-lines.ts";
import type { ScreenConversation, ScreenPort } from "./screen-port.ts";
import type { FinishedLines, InputFrame, Shown } from "./shown.ts";

/** What a conversation on a screen is made from. */
export interface TerminalConversationOptions {
  /** Stays open afterwards. */
  readonly host: Host;
  /** The thread that is continued, or begun. */
  readonly threadId: string;
  readonly port: ScreenPort;
  /** How a text is asked on the thread of an id. Default: as it is. */
  readonly ask?: (text: string, threadId: string) => TerminalAsk;
  /** Lines that are shown behind the figures of a turn. Default: none. */
  readonly notes?: (threadId: string, turn: number) => Promise<readonly string[]>;
  /** What a new thread is called. Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  /** Who answers. Default `Agent`. */
  readonly name?: string;
  /** Ends it: the open turn is cancelled. */
  readonly signal?: AbortSignal;
}

/** A conversation on the thread of a host, for a screen: what was typed changes it, and what it shows is drawn. */
export const terminalConversation = (options: TerminalConversationOptions): ScreenConversation =>
  new TerminalConversation(options);

class TerminalConversation implements ScreenConversation {
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #options: TerminalConversationOptions;
  readonly #listeners = new Set<() => void>();
  readonly #finished: FinishedLines[] = [];
  #thread: HostedThread;
  #input = "";
  #answering: Answering | null = null;
  /** How many blocks of the answer that is under way are finished already. */
  #taken = 0;

  constructor(options: TerminalConversationOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
    this.#options = options;
    this.#thread = options.host.thread(options.threadId);
    const quit = (): void => this.#quit();
    options.signal?.addEventListener("abort", quit);
    void promise.then(() => options.signal?.removeEventListener("abort", quit));
    if (options.signal?.aborted === true) quit();
  }

  shown(): Shown {
    return {
      finished: this.#finished,
      open: () => this.#openLines(),
      input: () => this.#inputFrame(),
      status: () => this.#status(),
      view: null,
    };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  press(key: Key, _size: Size): void {
    if (key.type !== "key") this.#input += key.text;
    else if (key.name === "enter") this.#enter();
    else if (key.name === "backspace") this.#input = this.#input.slice(0, -1);
    else if (key.name === "escape" || (key.name === "ctrl+c" && this.#answering !== null))
      this.#answering?.asked.abort();
    else if (key.name === "ctrl+c" && this.#input !== "") this.#input = "";
    else if (key.name === "ctrl+c" || (key.name === "ctrl+d" && this.#input === "")) this.#quit();
    this.#changed();
  }

  #enter(): void {
    const text = this.#input.trim();
    if (text === "" || this.#answering !== null) return;
    this.#input = "";
    void this.#ask(text);
  }

  async #ask(text: string): Promise<void> {
    this.#show({ type: "question", text, fate: "asked" });
    const ask =
      this.#options.ask ??
      ((what: string, threadId: string): TerminalAsk => this.#options.host.thread(threadId).ask(what));
    const answering = new Answering(ask(text, this.#thread.id), () => this.#changed());
    this.#answering = answering;
    this.#taken = 0;
    this.#changed();
    const end = await answering.run();
    this.#take();
    this.#answering = null;
    await this.#showEnd(end);
    this.#changed();
  }

  async #showEnd({ turn: number, thrown }: AnswerEnd): Promise<void> {
    if (thrown !== null) {
      const isStopped = thrown instanceof TurnCancelledError;
      this.#show({
        type: "notice",
        text: isStopped ? "stopped" : `error: ${failureText(thrown)}`,
        level: isStopped ? "dim" : "error",
      });
    }
    const state = number === null ? null : await this.#thread.state();
    const turn = state === null || number === null ? undefined : turnNumbered(state, number);
    if (turn === undefined) return;
    const notes = (await this.#options.notes?.(this.#thread.id, turn.number)) ?? [];
    this.#show({ type: "figures", text: [agentFigures(this.#options.name ?? "Agent", turn), ...notes].join("\n") });
  }

  #show(block: Block): void {
    const id = this.#finished.length;
    this.#finished.push({ id, lines: (columns) => blockLines(block, { columns, unfolded: false, finished: true }) });
  }

  /** What is finished of the answer goes to what is finished of the conversation. */
  #take(): void {
    const finished = this.#answering?.blocks.finished ?? [];
    for (const block of finished.slice(this.#taken)) this.#show(block);
    this.#taken = finished.length;
  }

  #openLines(): readonly Line[] {
    const look = { columns: 80, unfolded: false, finished: false };
    return (this.#answering?.blocks.open ?? []).flatMap((block) => blockLines(block, look));
  }

  #inputFrame(): InputFrame {
    const lines = this.#input.split("\n");
    return {
      lines: lines.map((text, index) => [
        { text: index === 0 ? "> " : "  ", roles: ["prompt"] },
        { text, roles: [] },
      ]),
      cursor: { row: lines.length - 1, column: 2 + (lines.at(-1)?.length ?? 0) },
    };
  }

  #status(): Line {
    const doing =
      this.#answering === null
        ? []
        : [this.#answering.blocks.waits === null ? "answering, Esc stops" : "waiting, Esc stops"];
    return [{ text: [`thread ${this.#thread.id}`, ...doing].join(" · "), roles: ["dim"] }];
  }

  #quit(): void {
    this.#answering?.asked.abort();
    this.#end();
  }

  #changed(): void {
    this.#take();
    for (const listener of this.#listeners) listener();
  }
}
