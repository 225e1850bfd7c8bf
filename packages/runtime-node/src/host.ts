import type { Host } from "@colloquy/host";
import { runtimeHost, type RuntimeHostOptions } from "@colloquy/host/runtime";
import { failures } from "./failure-report.ts";
import { systemClock, randomIds } from "./ports/system.ts";

/** Options of a host: `llm`, and any part that replaces a default. */
export interface HostOptions extends RuntimeHostOptions {}

/**
 * Creates a host of the real parts: the system clock, random ids and a store in memory, unless others are given. A
 * store in memory is announced on the console. Errors of the model handler, of hooks and of observers are also written
 * to the console, without text that looks like a secret, unless `onObserverError` is given. The same reason is in the
 * ask's error and in the journal.
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

const nothingIsKept =
  'Colloquy keeps the conversations of this host in memory, until the process ends; createHost({ store: sqliteStore({ path: "threads.db" }) }) keeps them, and createHost({ store: memoryStore() }) says that this is meant.';
