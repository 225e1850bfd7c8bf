// Measures many threads in one process: their memory when idle, and the cost of calling the model for only a few of
// them at a time.
import { awaitMany, limitCalls, type LlmHandler } from "@colloquy/host";
import { benchmarkHost, fileStore, onFile } from "./kit/hosts.ts";
import type { IdleThreads } from "./idle-threads.ts";
import { cpuMicros, type Figure, median } from "./kit/measure.ts";
import { reportOf } from "./kit/report.ts";
import { userText } from "./kit/script.ts";
import { instantModel, lookupMachine } from "./kit/work.ts";

const idle = 10_000;
const threads = 2_000;
const turns = 3;
const atOnce = 100;

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const evicted = await idleThreads("evicted");
  const open = await idleThreads("open");
  const bounded: Worked[] = [];
  const unbounded: Worked[] = [];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    bounded.push(await work(atOnce));
    unbounded.push(await work(threads));
  }
  const ours = median(bounded.map(({ micros }) => micros));
  const reference = median(unbounded.map(({ micros }) => micros));
  const most = Math.max(...bounded.map(({ atOnceMost }) => atOnceMost));
  return [
    {
      name: `MB for ${idle} idle threads, let go`,
      value: evicted.added / 1e6,
      most: 100,
      note: `${Math.round(evicted.resident / 1e6)} MB for the whole process`,
    },
    {
      name: `MB for ${idle} idle threads, all still open`,
      value: open.added / 1e6,
      most: 100,
      note: `${Math.round(open.added / idle)} bytes each; ${Math.round(open.resident / 1e6)} MB for the whole process`,
    },
    {
      name: `${threads} threads x ${turns} turns: calls of the model at a time`,
      value: most,
      most: atOnce,
      note: `${Math.max(...unbounded.map(({ atOnceMost }) => atOnceMost))} without a bound`,
    },
    {
      name: `${threads} threads x ${turns} turns, ${atOnce} at a time against all at once`,
      value: ours / reference,
      most: 2,
      note: `${Math.round(ours)} µs a turn against ${Math.round(reference)} µs`,
    },
  ];
};

interface Worked {
  /** The microseconds of CPU for a turn. */
  readonly micros: number;
  readonly atOnceMost: number;
}

const work = (atOnce: number): Promise<Worked> =>
  onFile(async (path) => {
    const store = fileStore(path);
    let called = 0;
    let atOnceMost = 0;
    const model = instantModel();
    const llm: LlmHandler = async (call, context) => {
      atOnceMost = Math.max(atOnceMost, ++called);
      await new Promise((resolve) => setTimeout(resolve, 1));
      called--;
      return model(call, context);
    };
    const machine = lookupMachine({ overlap: { type: "queue", max: turns } });
    const host = benchmarkHost({ machine, store, llm: limitCalls(llm, { atOnce }) });
    const before = cpuMicros();
    const asks = Array.from({ length: threads * turns }, (_, index) =>
      host.ask(userText(index), { threadId: `t${index % threads}` }),
    );
    for (const outcome of await awaitMany(asks)) if (outcome.type === "error") throw outcome.error;
    const micros = (cpuMicros() - before) / asks.length;
    await host.close();
    await store.close();
    return { micros, atOnceMost };
  });

const idleThreads = (mode: "open" | "evicted"): Promise<IdleThreads> =>
  onFile((path) =>
    reportOf<IdleThreads>(new URL("idle-threads.ts", import.meta.url), [path, String(idle), mode], ["--expose-gc"]),
  );
