import type { Host } from "@colloquy/host";
import { failureReport, runtimeHost, type RuntimeHostOptions } from "@colloquy/host/runtime";
import { systemClock } from "./ports/clock.ts";
import { randomIds } from "./ports/ids.ts";

/** What a host of this package is made from: `llm`, and whatever of the rest is to be other than usual. */
export interface HostOptions extends RuntimeHostOptions {}

/**
 * Makes a host of the platform's own parts: its clock, random ids, and, where no other store is given, one in memory, which
 * is said on the console. What the model handler, a hook or an observer throws is written to the console too, without what
 * looks like a secret, unless `onObserverError` is given; the same reason stands in the error of the ask and in the journal.
 *
 * Each call that is valid for the `createHost` of `@colloquy/host` means the same here.
 *
 * @throws ConfigurationError for an option that is missing, unknown or invalid, and for a machine that declares other tools.
 */
export const createHost = (options: HostOptions): Host =>
  runtimeHost(
    { clock: systemClock, ids: randomIds, failures, onMemoryStore: () => console.warn(nothingIsKept) },
    options,
  );

const failures = failureReport(
  () => [],
  (text) => console.error(text),
);

const nothingIsKept =
  "Colloquy keeps the conversations of this host in memory, until the page is closed; createHost({ store: indexedDbStore() }) keeps them, and createHost({ store: memoryStore() }) says that this is meant.";
