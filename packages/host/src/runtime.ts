// Parts from which a runtime for one platform makes its own `createHost`: the platform's parts are named once, and
// callers give the rest.
import {
  ConfigurationError,
  type ConversationMachine,
  conversationMachine,
  type MachineOptions,
  type SystemDraft,
} from "@colloquy/machine";
import { isConversationMachine } from "@colloquy/machine/hosting";
import type { FailureReport } from "./boundary/thrown.ts";
import { checkOptions, checkValue, kinds, type OptionKinds } from "./boundary/option-kinds.ts";
import type { ObserverErrorHandler } from "./context/hooks.ts";
import { systemKind, type ThreadDefaults } from "./context/host-context.ts";
import { createHost, type Host } from "./host.ts";
import { memoryStore } from "./memory-store/memory-store.ts";
import { type HostOptions, hostOptionKinds } from "./options.ts";
import type { Clock } from "./ports/clock.ts";
import type { Ids } from "./ports/ids.ts";
import type { LlmHandler } from "./ports/llm.ts";
import { secretsOf } from "./secrets/redact.ts";
import { declarationsOf, type Tool } from "./tools/tool.ts";

export { failureReport, type FailureReport } from "./boundary/thrown.ts";
export { type ErrorAnswer, errorTextOf } from "./boundary/thrown.ts";
export { type KeyFilter, keyFilter, type KeyPieces, redactionMark } from "./secrets/key-filter.ts";
export { charactersRead, redact } from "./secrets/redact.ts";

/** The parts of a platform, used if a caller gives none. */
export interface RuntimeParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly failures: FailureReport;
  /** Called if no store was given, once all options are valid: an error must not appear below the notice. */
  readonly onMemoryStore: () => void;
}

/**
 * The options for deciding and performing, as a runtime's `createHost` takes them. Performers of threads elsewhere take
 * them too.
 */
export interface RuntimePerformingOptions extends Partial<
  Pick<HostOptions, "tools" | "thread" | "clock" | "onObserverError" | "describeThrown" | "secrets">
> {
  /**
   * The machine that decides the conversations: the options of a machine (`policy`, `limits`, `overlap`, …), whose
   * tools are those named in `tools`; or a machine that was made with the declarations of these same tools. Default: a
   * machine without options.
   */
  readonly machine?: ConversationMachine | Omit<MachineOptions, "tools">;
  /** The system prompt of each thread that starts here; short for `thread: { system }`. */
  readonly system?: SystemDraft;
}

/** The same options, with their defaults. */
export interface RuntimePerforming extends Required<Omit<RuntimePerformingOptions, "machine" | "system" | "thread">> {
  readonly machine: ConversationMachine;
  readonly thread?: ThreadDefaults;
}

/** The options of a runtime's host: `llm`, and any others that differ from their defaults. */
export interface RuntimeHostOptions
  extends RuntimePerformingOptions, Partial<Omit<HostOptions, "llm" | keyof RuntimePerformingOptions>> {
  readonly llm: LlmHandler;
}

/**
 * Makes a host from the parts of a platform, and from a store in memory if none is given.
 *
 * @throws ConfigurationError for an option that is missing, unknown or invalid, and for a machine that declares other
 * tools.
 */
export const runtimeHost = (parts: RuntimeParts, options: RuntimeHostOptions): Host => {
  checkOptions("createHost", options, optionKinds);
  const given = givenOf(options);
  const { machine: _, system: __, store, ...rest } = given;
  const performing = runtimePerforming(parts, given, "createHost");
  const kept = store ?? memoryStore({ clock: performing.clock });
  const host = createHost({ ids: parts.ids, ...rest, ...performing, store: kept });
  if (store === undefined) parts.onMemoryStore();
  return host;
};

/**
 * Fills in the platform's parts for options that are not given: a machine that declares the tools, the clock, the
 * reports, and reasons without anything that looks like a secret.
 *
 * @param of the function that takes these options, for the errors
 * @throws ConfigurationError if `machine` is not a machine, has tools of its own, or two system prompts are given.
 */
export const runtimePerforming = (
  { clock: ownClock, failures }: Pick<RuntimeParts, "clock" | "failures">,
  options: RuntimePerformingOptions & Partial<Pick<HostOptions, "llm">>,
  of: string,
): RuntimePerforming => {
  const { machine, system, thread, clock = ownClock } = options;
  const tools = options.tools ?? [];
  const { describeThrown = failures.reasonOf, secrets = failures.secrets } = options;
  const report: ObserverErrorHandler = (thrown, where) =>
    failures.report(
      thrown,
      where,
      secretsOf(() => options.llm?.secrets?.()),
    );
  const { onObserverError = report } = options;
  const begun = system === undefined ? thread : threadWith(of, system, thread ?? {});
  return {
    machine: isConversationMachine(machine) ? machine : machineOf(of, machine, tools),
    tools,
    clock,
    onObserverError,
    describeThrown,
    secrets,
    ...(begun === undefined ? {} : { thread: begun }),
  };
};

/** Reads each option once, also from a prototype, as of a class. One that is `undefined` is left out. */
const givenOf = (options: RuntimeHostOptions): RuntimeHostOptions => {
  const given = Object.keys(optionKinds).map((name): [string, unknown] => [name, Reflect.get(options, name)]);
  // The same members, by their names.
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as object as RuntimeHostOptions;
};

const optionKinds: OptionKinds<RuntimeHostOptions> = {
  ...hostOptionKinds,
  machine: kinds.anything,
  store: kinds.anything,
  clock: kinds.anything,
  ids: kinds.anything,
  // The host checks it together with `system`.
  thread: kinds.anything,
  system: kinds.anything,
};

const machineOf = (
  of: string,
  options: Omit<MachineOptions, "tools"> = {},
  tools: readonly Tool[],
): ConversationMachine => {
  if (typeof options !== "object" || options === null)
    throw new ConfigurationError(
      `${of}: machine is neither a conversation machine, which conversationMachine() makes, nor the options of one`,
    );
  if ("tools" in options && options.tools !== undefined)
    throw new ConfigurationError(
      `${of}: machine has tools; name tools once, in the option tools of ${of}, which declares them to the machine`,
    );
  return conversationMachine({ ...options, tools: declarationsOf(tools) });
};

const threadWith = (of: string, system: SystemDraft, thread: ThreadDefaults): ThreadDefaults => {
  checkValue(`${of}: system`, system, systemKind);
  if (thread.system !== undefined)
    throw new ConfigurationError(`${of} has both system and thread.system; give one of them`);
  return { ...thread, system };
};
