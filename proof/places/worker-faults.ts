import type { Plugin } from "rolldown";

/** Mistakes in the example's worker, so that it can be seen that they are noticed. */
export const faults = {
  "no-alarm": "the alarm takes up nothing",
  "one-alarm": "an alarm sets no other",
  "no-key": "a question that is asked again is another question",
  "one-journal": "the threads of an object are kept under one id",
  "memory-only": "the object keeps its threads in memory",
} as const;

export type Fault = keyof typeof faults;

/** What stands once in a file of the example, and what is put in its place. */
const mistakes: Readonly<Record<Fault, { readonly file: string; readonly text: string; readonly instead: string }>> = {
  "no-alarm": {
    file: "worker.ts",
    text: "await thread.resume()",
    instead: "{ turn: null, queued: [] }",
  },
  "one-alarm": {
    file: "worker.ts",
    text: "if (turn !== null || queued.length > 0) await this.#wakeLater();",
    instead: "",
  },
  "no-key": { file: "worker.ts", text: 'askId === "" ? {} : { askId }', instead: "{}" },
  "one-journal": {
    file: "storage.ts",
    text: "this.#storage.sql.exec(query, threadId, ...values)",
    instead: `this.#storage.sql.exec(query, "thread", ...values)`,
  },
  "memory-only": { file: "worker.ts", text: "store: new ObjectStore(storage),", instead: "" },
};

/** Makes the example wrong as it is bundled. @throws Error where it does not have the text once */
export const seedFault = (fault: Fault): Plugin => ({
  name: fault,
  transform: (code, id) => {
    const { file, text, instead } = mistakes[fault];
    if (!id.endsWith(`/examples/25-cloudflare-worker/${file}`)) return code;
    const parts = code.split(text);
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what is to be made wrong: ${text}`);
    return parts.join(instead);
  },
});
