import type { Plugin } from "rolldown";

/**
 * Ways to break what the tabs test, so that a test can show that they would notice. Each is what a plausible mistake in
 * the store would do.
 */
export const faults = {
  "no-guards": "an append looks neither at the lease nor at the place: a tab that stood still past its lease writes on",
  "locks-ignored": "any other tab's lease counts as that of a tab that is gone",
  "lock-outlives-tab": "a tab that is gone counts as alive until its lease runs out",
} as const;

export type Fault = keyof typeof faults;

/** Where a source is made wrong: a text that stands there once. */
export interface Mistake {
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

const looks = "return tab !== null && this.#lock !== null && !(await this.#lock.lives(tab));";

export const mistakes: Readonly<Record<Fault, readonly Mistake[]>> = {
  "no-guards": [
    {
      file: "indexed-db-store.ts",
      text: "if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);",
      instead: "void SequenceConflictError;",
    },
    {
      file: "leases.ts",
      text: "if (row === null || row.until <= this.#clock.now()) throw new LeaseLostError(lease);",
      instead: "void LeaseLostError;",
    },
  ],
  "locks-ignored": [{ file: "leases.ts", text: looks, instead: "return tab !== null;" }],
  "lock-outlives-tab": [{ file: "leases.ts", text: looks, instead: "return tab === undefined;" }],
};

/** Makes sources wrong as they are bundled. @throws Error where one does not have its text once */
export const seedFault = (fault: Fault): Plugin => ({
  name: fault,
  transform: (code, id) => mistakes[fault].filter(({ file }) => id.endsWith(sources + file)).reduce(wrong, code),
});

const sources = "/packages/runtime-browser/src/indexed-db/";

const wrong = (code: string, { file, text, instead }: Mistake): string => {
  const parts = code.split(text);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what is to be made wrong: ${text}`);
  return parts.join(instead);
};
