import { declarationsOf, type HostOptions, type ThreadDefaults, type Tool } from "@colloquy/host";
import {
  ConfigurationError,
  type ConversationMachine,
  conversationMachine,
  type MachineOptions,
  type SystemDraft,
} from "@colloquy/machine";
import { isConversationMachine } from "@colloquy/machine/hosting";
import { reasonOf, reportToConsole } from "./failure-report.ts";
import { systemClock } from "./ports/clock.ts";

/** What decides and performs, as `createHost` of this package takes it and whoever performs threads elsewhere. */
export interface PerformingOptions extends Partial<
  Pick<HostOptions, "tools" | "thread" | "clock" | "onObserverError" | "describeThrown">
> {
  /**
   * What the conversations decide by: the options of a machine (`policy`, `limits`, `overlap`, …), whose tools are those
   * named in `tools`; or a machine that was made with the declarations of just these tools. Default: a machine without options.
   */
  readonly machine?: ConversationMachine | Omit<MachineOptions, "tools">;
  /** The system prompt of each thread that begins here; short for `thread: { system }`. */
  readonly system?: SystemDraft;
}

/** The same, with what was left out. */
export interface Performing extends Required<Omit<PerformingOptions, "machine" | "system" | "thread">> {
  readonly machine: ConversationMachine;
  readonly thread?: ThreadDefaults;
}

/**
 * Puts the real parts where none are given: a machine that declares the tools, the computer's clock, reports on the console,
 * reasons without what looks like a secret.
 *
 * @param of who takes these options, for the errors
 * @throws ConfigurationError where `machine` is none, has tools of its own, or two system prompts are given.
 */
export const performingOf = (of: string, options: PerformingOptions): Performing => {
  const { machine, system, thread, clock = systemClock } = options;
  const tools = options.tools ?? [];
  const { onObserverError = reportToConsole, describeThrown = reasonOf } = options;
  const begun = system === undefined ? thread : threadWith(of, system, thread ?? {});
  return {
    machine: isConversationMachine(machine) ? machine : machineOf(of, machine, tools),
    tools,
    clock,
    onObserverError,
    describeThrown,
    ...(begun === undefined ? {} : { thread: begun }),
  };
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
  if (thread.system !== undefined)
    throw new ConfigurationError(`${of} has both system and thread.system; give one of them`);
  return { ...thread, system };
};
