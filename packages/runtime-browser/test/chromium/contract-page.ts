// The parts that a page needs to check the store contract, check by check.
import { storeChecks, subjectOf } from "@colloquy/runtime-test/contracts";
import * as fc from "fast-check";
import { indexedDbStore } from "../../src/index.ts";

let databases = 0;

/** Checks a promise of the contract by name. Rejects if it is not kept. */
const holdTo = async (name: string, hasLocks: boolean, seed: number): Promise<void> => {
  const promise = storeChecks.find((check) => check.name === name);
  if (promise === undefined) throw new Error(`there is no check of that name: ${name}`);
  fc.configureGlobal({ seed });
  const closers: (() => Promise<void>)[] = [];
  const subject = await subjectOf(
    async ({ clock }) => {
      const options = { name: `contract-${(databases += 1)}`, clock, ...(hasLocks ? {} : { locks: null }) };
      const store = indexedDbStore(options);
      return {
        store,
        reopen: async () => {
          await store.close();
          return indexedDbStore(options);
        },
        another: async () => indexedDbStore(options),
      };
    },
    (close) => closers.push(close),
  );
  try {
    await promise.check(subject);
  } finally {
    for (const close of closers) await close();
  }
};

Object.assign(globalThis, { holdTo });

declare global {
  var holdTo: (name: string, hasLocks: boolean, seed: number) => Promise<void>;
}
