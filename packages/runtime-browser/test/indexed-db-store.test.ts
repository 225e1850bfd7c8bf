import "fake-indexeddb/auto";

import { storeContract } from "@colloquy/runtime-test/contracts";
import { describe } from "vitest";

import { indexedDbStore } from "../src/index.ts";

let databases = 0;

describe.each([
  ["with Web Locks", navigator.locks],
  ["without them", null],
] as const)("%s", (_, locks) => {
  storeContract(
    "indexedDbStore",
    async ({ clock }) => {
      databases += 1;
      const name = `contract-${databases}`;
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
});
