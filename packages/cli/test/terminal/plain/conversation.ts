import { PassThrough, Writable } from "node:stream";
import { createHost, type Host, type LlmHandler, memoryStore, type Tool } from "@colloquy/host";
import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { sequentialIds, virtualClock, type VirtualClock } from "@colloquy/runtime-test";
import { converse, type ConverseOptions, type ConverseOutcome } from "../../../src/terminal/index.ts";

/** A conversation on a virtual clock, with its input and output. */
export interface Held {
  readonly host: Host;
  readonly clock: VirtualClock;
  readonly input: PassThrough;
  /** The output so far. */
  readonly written: () => string;
  /** Resolves when the output has this text. */
  readonly until: (text: string) => Promise<void>;
  readonly outcome: Promise<ConverseOutcome>;
}

/** Holds a conversation with a model. */
export const hold = (
  llm: LlmHandler,
  options: Partial<ConverseOptions> & { readonly machine?: MachineOptions; readonly tools?: readonly Tool[] } = {},
): Held => {
  const { machine, tools = [], ...others } = options;
  const clock = virtualClock();
  const host = createHost({
    machine: conversationMachine(machine),
    store: memoryStore({ clock }),
    llm,
    clock,
    ids: sequentialIds(),
    tools,
  });
  const input = new PassThrough();
  const output = new Written();
  const outcome = converse({ host, threadId: "here", input, output, isTerminal: false, ...others });
  return { host, clock, input, written: () => output.text, until: (text) => output.until(text), outcome };
};

/** Records all output. */
export class Written extends Writable {
  text = "";
  #watched: (() => void)[] = [];

  until(text: string): Promise<void> {
    if (this.text.includes(text)) return Promise.resolve();
    return new Promise((resolve) => this.#watched.push(() => this.text.includes(text) && resolve()));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.text += chunk.toString();
    for (const watch of this.#watched) watch();
    callback();
  }
}
