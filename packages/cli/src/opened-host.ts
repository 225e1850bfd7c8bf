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
import { oneLine } from "@colloquy/terminal";
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

/** A host of options: its model, tools and store. */
export interface OpenedHost extends Pick<AgentChat, "steers" | "waiting" | "onNestedApproval"> {
  readonly host: Host;
  /** How it is asked. */
  readonly ask: (input: Content, threadId: string, options: AskOptions) => Asked;
  readonly notes?: AgentChat["notes"];
  readonly agent: Agent | null;
  readonly provider: Provider;
  /** The system prompt that was given, or is the agent's. */
  readonly system: string | undefined;
  /** Shows what is said beside answers. */
  readonly notices: { show: (text: string) => void };
  /** What it is, and where it is kept, in one line. */
  readonly about: string;
  /** How somebody else reaches its threads; null where nothing is kept. */
  readonly store: string | null;
  readonly opened: Store;
  /** Makes another host of the same options and the same store, with a machine that has these over them. It is closed with the others. */
  readonly under: (machine: MachineOptions) => Host;
}

/** What is to be closed when all is over, or could not be opened. */
export type Opens = (close: () => Promise<void>) => void;

/** Opens one thing after the other; they are closed in the other order, at once where one of them can't be opened. */
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

/** What of a host is otherwise than options say. */
interface Otherwise {
  /** Options of the machine, over those that the others come to. */
  readonly machine?: MachineOptions;
  /** Default: none, as a command continues only the thread that it uses. */
  readonly recovery?: RecoveryOptions | false;
  /** Gives a provider where there is none, by what was thrown. */
  readonly provider?: (thrown: unknown) => Provider;
}

/** Makes a host of options. @throws for whatever can't be used */
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
  // After a crash the next run must not wait long for the thread.
  leaseTtlMs: 5_000,
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
