import { join } from "node:path";

import { storeChecks } from "@colloquy/runtime-test/contracts";

import { inMemoryFolder } from "./memory-folder.ts";
import { patienceMs } from "./worker-client.ts";
import type { Fault } from "./worker-faults.ts";
import { Workerd } from "./workerd.ts";

/**
 * Holds the store of the example's worker to `storeContract`, in workerd itself, on real storage of objects. Last a fault is
 * built in, to see that it is noticed.
 */
export const storeOfWorker = (root: string, program: string, fault: Fault | null): Promise<readonly string[]> =>
  inMemoryFolder(async (folder) => {
    const alias = { vitest: join(root, "proof/places/contract-expect.ts") };
    const entry = "examples/25-cloudflare-worker/check-storage.ts";
    await using workerd = await Workerd.start({ root, program, entry, folder, fault, alias });
    const url = await workerd.url;
    const outcomes = await Promise.all(storeChecks.map(({ name }) => checkedBy(url, name)));
    const problems = outcomes.filter((text) => text !== null);
    const noticed = await checkedBy(url, seenFault, "?faulty");
    return noticed === null ? [...problems, `a fault was not noticed: ${seenFault}`] : problems;
  });

/** The optional parts that the store of a worker does not have: an object is alone with its threads. */
const leftOut: readonly (string | undefined)[] = ["inbox", "parts", "search"];

const seenFault = "does not renew a lease that was taken over or released";

/** Returns the problem, or null. */
const checkedBy = async (url: string, name: string, query: string = ""): Promise<string | null> => {
  const signal = AbortSignal.timeout(patienceMs);
  const text = await (await fetch(`${url}/${encodeURIComponent(name)}${query}`, { signal })).text();
  const feature = storeChecks.find((check) => check.name === name)?.feature;
  const expected = leftOut.includes(feature) ? "left out" : "";
  return text === expected ? null : `a store that ${name}: ${text || "made, which was to be left out"}`;
};
