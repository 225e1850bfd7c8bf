import {
  createHost as createPureHost,
  declarationsOf,
  type Host,
  type HostOptions as PureHostOptions,
  hostOptionNames,
  type LlmHandler,
  type ThreadDefaults,
  type Tool,
} from "@colloquy/host";
import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import {
  ConfigurationError,
  type ConversationMachine,
  conversationMachine,
  type MachineOptions,
  type SystemDraft,
} from "@colloquy/machine";
import { isConversationMachine } from "@colloquy/machine/hosting";
import { reasonOf, reportToConsole } from "./failure-report.ts";
import { memoryStore } from "./stores/memory-store.ts";
import { systemClock } from "./ports/clock.ts";
import { randomIds } from "./ports/ids.ts";

/** What a host of this package is made from: `llm`, and whatever of the rest is to be other than usual. */
export interface HostOptions extends Partial<Omit<PureHostOptions, "machine" | "llm">> {
  readonly llm: LlmHandler;
  /**
   * What the conversations decide by: the options of a machine (`policy`, `limits`, `overlap`, …), whose tools are those
   * named in `tools`; or a machine that was made with the declarations of just these tools. Default: a machine without options.
   */
  readonly machine?: ConversationMachine | Omit<MachineOptions, "tools">;
  /** The system prompt of each thread that begins here; short for `thread: { system }`. */
  readonly system?: SystemDraft;
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
  const { machine, system, store, clock = systemClock, ...rest } = givenOf(options);
  const tools = rest.tools ?? [];
  const host = createPureHost({
    ids: randomIds,
    onObserverError: reportToConsole,
    describeThrown: reasonOf,
    ...rest,
    machine: isConversationMachine(machine) ? machine : machineOf(machine, tools),
    store: store ?? memoryStore({ clock }),
    clock,
    tools,
    ...(system === undefined ? {} : { thread: threadWith(system, rest.thread ?? {}) }),
  });
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

const machineOf = (options: Omit<MachineOptions, "tools"> = {}, tools: readonly Tool[]): ConversationMachine => {
  if (typeof options !== "object" || options === null)
    throw new ConfigurationError(
      "createHost: machine is neither a conversation machine, which conversationMachine() makes, nor the options of one",
    );
  if ("tools" in options && options.tools !== undefined)
    throw new ConfigurationError(
      "createHost: machine has tools; name tools once, in the option tools of createHost, which declares them to the machine",
    );
  return conversationMachine({ ...options, tools: declarationsOf(tools) });
};

const threadWith = (system: SystemDraft, thread: ThreadDefaults): ThreadDefaults => {
  if (thread.system !== undefined)
    throw new ConfigurationError("createHost has both system and thread.system; give one of them");
  return { ...thread, system };
};

const notKept =
  'Colloquy keeps the conversations of this host in memory, until the process ends; createHost({ store: sqliteStore({ path: "threads.db" }) }) keeps them, and createHost({ store: memoryStore() }) says that this is meant.';
