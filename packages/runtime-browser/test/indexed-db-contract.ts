import { storeContract } from "@colloquy/runtime-test/contracts";

import { indexedDbStore } from "../src/index.ts";

/** Checks the store contract with these locks, or without any. */
export const indexedDbContract = (title: string, locks: LockManager | null): void => {
  let databases = 0;
  storeContract(
    title,
    async ({ clock }) => {
      databases += 1;
      const name = `${title} ${databases}`;
      const store = indexedDbStore({ name, clock, locks });
      return {
        store,
        reopen: async () => {
          await store.close();
          return indexedDbStore({ name, clock, locks });
        },
        another: async () => indexedDbStore({ name, clock, locks }),
      };
    },
    { features: ["inbox", "parts", "search"] },
  );
};
