import {
  createHost as createPureHost,
  type Host,
  type HostOptions as PureHostOptions,
  hostOptionNames,
  type LlmHandler,
} from "@colloquy/host";
import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { memoryStore } from "./stores/memory-store.ts";
import { randomIds } from "./ports/ids.ts";
import { type PerformingOptions, performingOf } from "./performing.ts";

/** What a host of this package is made from: `llm`, and whatever of the rest is to be other than usual. */
export interface HostOptions
  extends PerformingOptions, Partial<Omit<PureHostOptions, "llm" | keyof PerformingOptions>> {
  readonly llm: LlmHandler;
}

/**
 * Makes a host of the real parts: the computer's clock, random ids, and, where no other store is given, one in memory, which
 * is said on the console. What the model handler, a hook or an observer throws is written to the console too, without what
 * looks like a secret, unless `onObserverError` is given; the same reason stands in the error of the ask and in the journal.
 *
 * Each call that is valid for the `createHost` of `@colloquy/host` means the same here.
 *
 * @throws ConfigurationError for an option that is missing, unknown or invalid, and for a machine that declares other tools.
 */
export const createHost = (options: HostOptions): Host => {
  const problem = problemOfOptions("createHost", options, optionNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const given = givenOf(options);
  const { machine: _, system: __, store, ...rest } = given;
  const performing = performingOf("createHost", given);
  const kept = store ?? memoryStore({ clock: performing.clock });
  const host = createPureHost({ ids: randomIds, ...rest, ...performing, store: kept });
  // When all options are right: an error must not stand below it.
  if (store === undefined) console.warn(notKept);
  return host;
};

/** Each option, read once wherever it stands: options may be an object of a class. What is `undefined` is left out. */
const givenOf = (options: HostOptions): HostOptions => {
  const given = Object.keys(optionNames).map((name): [string, unknown] => [name, Reflect.get(options, name)]);
  // The same members, by their names.
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as object as HostOptions;
};

const optionNames: OptionNames<HostOptions> = {
  ...hostOptionNames,
  machine: true,
  store: true,
  clock: true,
  ids: true,
  system: true,
};

const notKept =
  'Colloquy keeps the conversations of this host in memory, until the process ends; createHost({ store: sqliteStore({ path: "threads.db" }) }) keeps them, and createHost({ store: memoryStore() }) says that this is meant.';
