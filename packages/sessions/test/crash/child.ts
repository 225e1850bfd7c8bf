// A process with a session, until its calls are answered or it kills itself. `crash.long.test.ts` starts it.
import { appendFileSync } from "node:fs";
import type { Clock, LlmHandler, Store } from "@colloquy/host";
import { sqliteStore, systemClock } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { session } from "../../src/index.ts";

/** The options, passed as JSON in the first argument. */
export interface ChildOptions {
  readonly store: { readonly path: string } | { readonly url: string; readonly schema: string };
  /** The file to which it writes a line for each step. */
  readonly notes: string;
  /** The point of its work, from 1, at which it kills itself; null for never. */
  readonly diesAt: number | null;
  readonly calls: number;
  /** The milliseconds by which its clock is ahead, so that the leases of dead processes have expired. */
  readonly aheadMs: number;
}

/** So long that no process loses its lease on a busy machine. */
export const leaseTtlMs = 60_000;

const main = async ({ store: place, notes, diesAt, calls, aheadMs }: ChildOptions): Promise<void> => {
  const note = (...words: readonly string[]): void => appendFileSync(notes, `${words.join(" ")}\n`);
  let points = 0;
  /** Counts a point of the work, and dies at the chosen one. */
  const point = (): void => {
    points += 1;
    if (points === diesAt) process.kill(process.pid, "SIGKILL");
  };
  const clock: Clock = {
    now: () => systemClock.now() + aheadMs,
    wakeAt: (dueAt, callback) => systemClock.wakeAt(dueAt - aheadMs, callback),
  };
  const store: Store & Partial<AsyncDisposable> =
    "path" in place
      ? sqliteStore({ ...place, clock })
      : postgresStore({ connectionString: place.url, schema: place.schema, clock });
  const llm: LlmHandler = async ({ threadId }) => {
    note("called", threadId);
    point();
    return { type: "completed", reply: { content: `about ${threadId.split("/").at(1)}` }, finishReason: "stop" };
  };
  const child = session<{ q: string }, { a: string }>(
    async ({ q }, { ask }) => {
      const { text } = await ask("think", q);
      point();
      return { a: text };
    },
    { name: "child" },
  );
  const qa = session<{ q: string }, { a: string }>(
    async ({ q }, { ask, memory }) => {
      const drafts = await Promise.all([ask("draft", q), ask("draft", q)]);
      point();
      const { a } = await child.call({ q });
      point();
      return { a: [memory.exchanges.length, ...drafts.map(({ text }) => text), a].join(", ") };
    },
    { name: "qa", store, llm, onTurn: point, host: { clock, leaseTtlMs } },
  );
  const { threads } = await store.list({});
  for (const { threadId } of threads)
    if (JSON.stringify(await store.read(threadId)).includes('"llm.completed"')) note("journalled", threadId);
  for (let number = 1; number <= calls; number++) {
    const { a } = await qa.call({ q: `Q${number}` }, { askId: `call-${number}` });
    note("answered", a);
  }
  note("turns", String(await qa.count()), String(await child.under(qa).count()));
  await Promise.all([qa.close(), child.close()]);
  await store[Symbol.asyncDispose]?.();
};

// Cast: the test that starts it writes them.
if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "") as ChildOptions);
