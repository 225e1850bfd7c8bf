// A process that reports the bytes that it allocated for one prompt of a long thread, and how many remain. Its young
// generation is so large that nothing is collected meanwhile, so the allocated bytes are at least the peak. Run it with
// --expose-gc and --min-semi-space-size.
import { promptOf, type State } from "@colloquy/machine";
import { longThread, windowMachine } from "./kit/long-thread.ts";

export interface PromptMemory {
  /** The bytes for the first prompt, which counts its tokens. */
  readonly first: number;
  readonly next: number;
  /** The bytes that remain after both are collected: the counts. */
  readonly kept: number;
}

const measured = (state: State): PromptMemory => {
  const machine = windowMachine();
  collect();
  const before = process.memoryUsage().heapUsed;
  const first = allocatedBy(() => promptOf(machine, state));
  const next = allocatedBy(() => promptOf(machine, state));
  collect();
  return { first, next, kept: process.memoryUsage().heapUsed - before };
};

const allocatedBy = (work: () => { readonly messages: readonly unknown[] }): number => {
  const before = process.memoryUsage().heapUsed;
  const { messages } = work();
  const allocated = process.memoryUsage().heapUsed - before;
  if (messages.length === 0) throw new Error("the prompt shows nothing");
  return allocated;
};

const collect = (): void => {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  globalThis.gc();
};

const long = longThread(Number(process.argv[2]));
const brief = longThread(1_000);
// These rounds compile the code, which must not count.
for (let round = 0; round < 50; round++) measured(brief);
process.send?.(measured(long));
process.disconnect?.();
