import { createHost, type Host, type LlmHandler, memoryStore, type Tool } from "@colloquy/host";
import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { sequentialIds, virtualClock, type VirtualClock } from "@colloquy/runtime-test";
import {
  runScreen,
  type Size,
  terminalConversation,
  type TerminalConversationOptions,
} from "../../../src/terminal/index.ts";
import { themeNamed } from "../../../src/terminal/text/theme.ts";
import { FakeTerminal } from "./fake-terminal.ts";

/** The options of a conversation at a terminal. */
export interface AtTerminalOptions extends Partial<Omit<TerminalConversationOptions, "port">> {
  readonly size: Size;
  readonly llm: LlmHandler;
  readonly machine?: MachineOptions;
  readonly tools?: readonly Tool[];
}

/** The real conversation on the real screen, on a virtual clock and a terminal without a process. */
export class AtTerminal {
  readonly clock: VirtualClock = virtualClock();
  readonly host: Host;
  readonly terminal: FakeTerminal;
  readonly #ending = new AbortController();
  readonly #run: Promise<void>;
  #milliseconds = 0;

  constructor({ size, llm, machine, tools = [], ...others }: AtTerminalOptions) {
    const { clock } = this;
    const parts = { machine: conversationMachine(machine), store: memoryStore({ clock }), ids: sequentialIds() };
    this.host = others.host ?? createHost({ ...parts, llm, clock, tools });
    this.terminal = new FakeTerminal(size);
    const { input, output } = this.terminal;
    const now = (): number => this.#milliseconds;
    const setting = { threadId: "here", now, signal: this.#ending.signal, ...others, host: this.host };
    this.#run = runScreen({
      conversation: (port) => terminalConversation({ ...setting, port }),
      input,
      output,
      theme: themeNamed("dark"),
    });
  }

  /** Types a text, half a second after the one before. */
  type(text: string): void {
    this.#milliseconds += 500;
    this.terminal.type(text);
  }

  /** Resolves when the screen or the lines above it show this, with any wrapping. */
  until(wanted: RegExp): Promise<void> {
    const { cells } = this.terminal;
    return this.terminal.until(() => {
      const lines = cells.isAlternate ? cells.screen() : cells.lines();
      return wanted.test(lines.join(" ").replaceAll(/\s+/g, " "));
    });
  }

  /** Types a line, and enters it once it is there. */
  async enter(line: string): Promise<void> {
    this.type(line);
    await this.terminal.until(line.split(" ").at(-1) ?? "");
    this.type("\r");
  }

  /** Resolves when the status line counts this many answers. */
  answered(count: number): Promise<void> {
    const status = this.terminal.output.columns < 40 ? "here >" : `here · ${count} turn`;
    return this.until(new RegExp(`${String.raw`Agent \(.*`.repeat(count)}${status}`));
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#run;
    await this.host.close();
    this.terminal.cells.terminal.dispose();
  }
}
