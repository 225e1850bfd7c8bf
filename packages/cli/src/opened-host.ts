import {
  type AskOptions,
  createHost,
  declarationsOf,
  type Host,
  type HostOptions,
  type RecoveryOptions,
  memoryStore,
  type Store,
} from "@colloquy/host";
import { type Content, conversationMachine, type MachineOptions } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { oneLine } from "@colloquy/cli/terminal";
import type { Agent, AgentChat } from "./agent-chat.ts";
import { chatMachine, reactInstructions } from "./chat-machine.ts";
import { chatTools } from "./chat-tools.ts";
import { checkTogether, checkTools } from "./check-options.ts";
import type { CommandContext } from "./command-context.ts";
import { openStore, placeOfStore, sessionFile } from "./kept-threads.ts";
import { type Provider, providerOf } from "./models.ts";
import type { OptionValues } from "./options.ts";
import type { Settled } from "./settings.ts";
import { promptText } from "./turn-notes.ts";
import type { Asked } from "./turn.ts";
import { waitingOf } from "./waiting.ts";

/** A host made from options, with its model, tools and store. */
export interface OpenedHost extends Pick<AgentChat, "steers" | "waiting" | "onNestedApproval"> {
  readonly host: Host;
  /** Asks on a thread. */
  readonly ask: (input: Content, threadId: string, options: AskOptions) => Asked;
  readonly notes?: AgentChat["notes"];
  readonly agent: Agent | null;
  readonly provider: Provider;
  /** The given system prompt, or the agent's. */
  readonly system: string | undefined;
  /** Shows output beside answers. */
  readonly notices: { show: (text: string) => void };
  /** The model and the store, in one line. */
  readonly about: string;
  /** The options with which another command reaches its threads; null if they are not stored. */
  readonly store: string | null;
  readonly opened: Store;
  /**
   * Makes another host with the same options and the same store; `machine` overrides its machine options. It is closed
   * with the others.
   */
  readonly under: (machine: MachineOptions) => Host;
}

/** Registers a function that closes a resource, at the end or if opening fails. */
export type Opens = (close: () => Promise<void>) => void;

/** Opens several resources in order. They are closed in reverse order, at once if one of them cannot be opened. */
export const opening = async <Opened extends object>(
  open: (opens: Opens) => Promise<Opened>,
): Promise<Opened & { readonly close: () => Promise<void> }> => {
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened.toReversed()) await each();
  };
  try {
    return { ...(await open((each) => opened.push(each))), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
};

/** Overrides of a host's options. */
interface Otherwise {
  /** Machine options that override all others. */
  readonly machine?: MachineOptions;
  /** Default: none, as a command continues only the thread that it uses. */
  readonly recovery?: RecoveryOptions | false;
  /** Gives a provider where there is none, by what was thrown. */
  readonly provider?: (thrown: unknown) => Provider;
}

/** Makes a host from options. @throws if anything cannot be used */
export const openedHost = async (
  { options, pricing, files }: Settled,
  { errors, environment }: Pick<CommandContext, "errors" | "environment">,
  opens: Opens,
  otherwise: Otherwise = {},
): Promise<OpenedHost> => {
  checkTogether(options);
  const place = options.session === undefined ? options.store : sessionFile(options.session);
  const machine = {
    ...chatMachine(options, options.agent !== undefined),
    ...(pricing === undefined ? {} : { pricing }),
    ...otherwise.machine,
  };
  const module = options.agent === undefined ? null : await import("./agent-chat.ts");
  const agent = (await module?.agentOf(options.agent ?? "", options, { errors })) ?? null;
  const made = providerOf(options, agent, environment);
  const provider = await (otherwise.provider === undefined ? made : made.catch(otherwise.provider));
  const { tools, close: closeTools } = await chatTools(options, errors);
  opens(closeTools);
  checkTools(options, tools, agent);
  const store = place === undefined ? memoryStore({ clock: systemClock }) : await openStore(place);
  opens(() => store.close());
  const system = systemOf(options, agent?.instructions ?? undefined);
  const notices: OpenedHost["notices"] = { show: (text) => text.split("\n").forEach((line) => errors.line(line)) };
  const parts = partsOf(store, system, options.debug === true ? notices : null, otherwise.recovery ?? false);
  const hostWith = (machine: MachineOptions) => {
    const made =
      module === null || agent === null
        ? plain(
            createHost({
              ...parts,
              tools,
              llm: provider.handler(provider.model),
              machine: conversationMachine({ ...machine, tools: declarationsOf(tools) }),
            }),
          )
        : module.hostOfAgent(agent, tools, provider, { ...parts, machine }, options.model, notices);
    opens(() => made.host.close());
    return made;
  };
  const kept = place === undefined ? "nothing is kept (--store FILE would)" : `kept in ${placeOfStore(place)}`;
  const who = agent === null ? "" : `${agent.name}: `;
  const settings = files.length === 0 ? "" : `; with ${files.join(" and ")}`;
  return {
    ...hostWith(machine),
    under: (others) => hostWith({ ...machine, ...others }).host,
    opened: store,
    agent,
    provider,
    system,
    notices,
    about: oneLine(`${who}${provider.model}${provider.name === "" ? "" : ` at ${provider.name}`}; ${kept}${settings}`),
    store: place === undefined ? null : placeOfStore(place),
  };
};

/** Returns what hosts of agents and others share. @param prompts where those of all model calls are shown. */
const partsOf = (
  store: Store,
  system: string | undefined,
  prompts: OpenedHost["notices"] | null,
  recovery: RecoveryOptions | false,
): Omit<HostOptions, "llm" | "machine" | "tools"> => ({
  store,
  clock: systemClock,
  ids: randomIds,
  recovery,
  ...(system === undefined ? {} : { thread: { system } }),
  ...(prompts === null ? {} : { hooks: { beforeStep: (call) => prompts.show(promptText(call)) } }),
});

const plain = (host: Host) => ({
  host,
  steers: true,
  onNestedApproval: new Set<() => void>(),
  waiting: (threadId: string) => waitingOf(host.thread(threadId)),
  ask: (input: Content, threadId: string, asked: AskOptions): Asked => host.thread(threadId).ask(input, asked),
});

const systemOf = ({ system, react }: OptionValues, instructions: string | undefined): string | undefined => {
  const texts = [system ?? instructions, react === true ? reactInstructions : undefined];
  const given = texts.filter((text) => text !== undefined);
  return given.length === 0 ? undefined : given.join("\n\n");
};
