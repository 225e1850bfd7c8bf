import type { Host } from "@colloquy/host";
import { failureReport, runtimeHost, type RuntimeHostOptions } from "@colloquy/host/runtime";
import { systemClock } from "./ports/clock.ts";
import { randomIds } from "./ports/ids.ts";

/** The options of a host: `llm`, and any that differ from the defaults. */
export interface HostOptions extends RuntimeHostOptions {}

/**
 * Makes a host with the platform's clock, random ids, and, if no store is given, one in memory, with a warning on the
 * console. Errors of the model handler, a hook or an observer are also written to the console, without anything that
 * looks like a secret, unless `onObserverError` is given. The error of the ask and the journal contain the same reason.
 *
 * Each call that is valid for the `createHost` of `@colloquy/host` means the same here.
 *
 * @throws ConfigurationError for an option that is missing, unknown or invalid, and for a machine that declares other
 * tools.
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
