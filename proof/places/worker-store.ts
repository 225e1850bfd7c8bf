import { join } from "node:path";

import { storeChecks } from "@colloquy/runtime-test/contracts";

import { inFolder, memory } from "../kit/folder.ts";
import { patienceMs } from "./worker-client.ts";
import type { Fault } from "./worker-faults.ts";
import { Workerd } from "./workerd.ts";

/**
 * Checks the store of the example's worker against `storeContract`, in workerd itself, on real object storage. Last,
 * builds a fault in and checks that it is noticed.
 */
export const storeOfWorker = (root: string, program: string, fault: Fault | null): Promise<readonly string[]> =>
  inFolder(
    "worker-store",
    async (folder) => {
      const alias = { vitest: join(root, "proof/places/contract-expect.ts") };
      const entry = "examples/25-cloudflare-worker/check-storage.ts";
      await using workerd = await Workerd.start({ root, program, entry, folder, fault, alias });
      const url = await workerd.url;
      const outcomes = await Promise.all(storeChecks.map(({ name }) => checkedBy(url, name)));
      const problems = outcomes.filter((text) => text !== null);
      const noticed = await checkedBy(url, seenFault, "?faulty");
      return noticed === null ? [...problems, `a fault was not noticed: ${seenFault}`] : problems;
    },
    { within: memory() },
  );

/** The optional parts that a worker's store lacks, since no other process reaches an object's threads. */
const leftOut: readonly (string | undefined)[] = ["inbox", "parts", "search"];

const seenFault = "does not renew a lease that was taken over or released";

const checkedBy = async (url: string, name: string, query: string = ""): Promise<string | null> => {
  const signal = AbortSignal.timeout(patienceMs);
  const text = await (await fetch(`${url}/${encodeURIComponent(name)}${query}`, { signal })).text();
  const feature = storeChecks.find((check) => check.name === name)?.feature;
  const expected = leftOut.includes(feature) ? "left out" : "";
  return text === expected ? null : `a store that ${name}: ${text || "it has this part, which it should lack"}`;
};
