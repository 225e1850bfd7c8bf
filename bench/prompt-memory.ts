// A process of its own that reports to its parent how many bytes it allocated for one prompt from a long thread, and how
// many of them stay. Its young generation is so large that nothing is collected meanwhile: what was allocated is
// never less than the peak. To be run with --expose-gc and --min-semi-space-size.
import { promptOf, type State } from "@colloquy/machine";
import { longThread, windowMachine } from "./kit/long-thread.ts";

/** Bytes. */
export interface PromptMemory {
  /** By the first prompt, which counts what it shows. */
  readonly first: number;
  /** By the one after it. */
  readonly next: number;
  /** Of both, what is still there when they are gone: the counts. */
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
