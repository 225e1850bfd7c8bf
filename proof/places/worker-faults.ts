import type { Mistake } from "../kit/program.ts";

export const faults = {
  "no-alarm": "the alarm resumes no turn",
  "one-alarm": "an alarm does not set the next one",
  "no-key": "a repeated question counts as a new one",
  "one-journal": "all threads of an object share one id",
  "memory-only": "the object keeps its threads in memory",
} as const;

export type Fault = keyof typeof faults;

const inExample = (file: string, text: string, instead: string): Mistake => ({
  file: `/examples/25-cloudflare-worker/${file}`,
  text,
  instead,
});

export const mistakes: Readonly<Record<Fault, Mistake>> = {
  "no-alarm": inExample("worker.ts", "await thread.resume()", "{ turn: null, queued: [] }"),
  "one-alarm": inExample("worker.ts", "if (turn !== null || queued.length > 0) await this.#wakeLater();", ""),
  "no-key": inExample("worker.ts", 'askId === "" ? {} : { askId }', "{}"),
  "one-journal": inExample(
    "storage.ts",
    "this.#storage.sql.exec(query, threadId, ...values)",
    `this.#storage.sql.exec(query, "thread", ...values)`,
  ),
  "memory-only": inExample("worker.ts", "store: new ObjectStore(storage),", ""),
};
