// A process that reports the bytes of COUNT idle threads after a turn each, on a SQLite file. Run it with --expose-gc:
// idle-threads.ts PATH COUNT open|evicted
import { benchmarkHost, fileStore } from "./kit/hosts.ts";
import { userText } from "./kit/script.ts";

export interface IdleThreads {
  /** The growth of the heap and of memory outside the heap, due to the threads. */
  readonly added: number;
  readonly resident: number;
}

/** Long enough that no thread is released for being idle, or reads its inbox. */
const long = 1_000_000_000;

const measured = async (path: string, count: number, open: boolean): Promise<IdleThreads> => {
  const store = fileStore(path);
  const host = benchmarkHost({ store, leaseTtlMs: long, idleMs: open ? long : 0, pollMs: long });
  const turns = async (prefix: string, threads: number): Promise<void> => {
    for (let first = 0; first < threads; first += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => host.ask(userText(1), { threadId: `${prefix}${first + index}` })),
      );
    }
    // Waits until the last threads are released.
    if (!open) await new Promise((resolve) => setTimeout(resolve, 200));
  };
  // These turns compile the code, which must not count.
  await turns("warm", 500);
  const before = used();
  await turns("t", count - 500);
  const added = ((used() - before) * count) / (count - 500);
  const resident = process.memoryUsage().rss;
  await host.close();
  await store.close();
  return { added, resident };
};

const used = (): number => {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const [, , path = "", count, mode] = process.argv;
process.send?.(await measured(path, Number(count), mode === "open"));
process.disconnect?.();
