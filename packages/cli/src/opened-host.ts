import {
  type AskOptions,
  type OutputSchema,
  createHost,
  declarationsOf,
  type Host,
  type HostOptions,
  type RecoveryOptions,
  memoryStore,
  type Store,
  type Tool,
} from "@colloquy/host";
import { type Content, conversationMachine, type MachineOptions } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { oneLine, keymapOf, themeNamed } from "@colloquy/cli/terminal";
import type { Agent, AgentChat } from "./agent-chat.ts";
import { chatTools } from "./chat-tools.ts";
import type { CommandContext } from "./command-context.ts";
import { openStore, placeOfStore, sessionFile } from "./kept-threads.ts";
import { type Provider, providerOf } from "./models.ts";
import { type OptionValues, exclusive } from "./options.ts";
import type { Settled } from "./settings.ts";
import { promptText, type Asked, waitingOf } from "./turn.ts";
import { ArgumentError } from "./exit-code.ts";
import { compactTurns, compose, lastTurns, type Policy, tokenWindow } from "@colloquy/machine/policies";

export interface OpenedHost extends Pick<AgentChat, "steers" | "waiting" | "onNestedApproval"> {
  readonly host: Host;
  readonly ask: (input: Content, threadId: string, options: AskOptions<OutputSchema>) => Asked;
  readonly notes?: AgentChat["notes"];
  readonly agent: Agent | null;
  readonly provider: Provider;
  readonly system: string | undefined;
  /** Shows output beside answers; a conversation on a screen replaces the function. */
  readonly notices: { show: (text: string) => void };
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

interface Otherwise {
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
  ask: (input: Content, threadId: string, asked: AskOptions<OutputSchema>): Asked =>
    host.thread(threadId).ask(input, asked),
});

const systemOf = ({ system, react }: OptionValues, instructions: string | undefined): string | undefined => {
  const texts = [system ?? instructions, react === true ? reactInstructions : undefined];
  const given = texts.filter((text) => text !== undefined);
  return given.length === 0 ? undefined : given.join("\n\n");
};

/** @throws ArgumentError for options that contradict each other */
const checkTogether = (options: OptionValues): void => {
  for (const [one, other] of exclusive) {
    if (options[one] !== undefined && options[other] !== undefined)
      throw new ArgumentError(`--${one} and --${other} exclude each other; give one of them`);
  }
  const { keys = "standard", theme = "dark", agent, mcp = [] } = options;
  // Both throw for an unknown name.
  keymapOf(keys);
  themeNamed(theme);
  if (options["allow-tools"] === true && agent === undefined && mcp.length === 0)
    throw new ArgumentError(
      "--allow-tools is about the tools of an agent or of MCP servers: there is no --agent and no --mcp",
    );
  if (options.reason !== undefined && options.deny === undefined)
    throw new ArgumentError("--reason says why a call is denied: give --deny as well");
};

/** @throws ArgumentError for tools that the model cannot call, and for missing tools that are needed */
const checkTools = (
  { provider, react }: Pick<OptionValues, "provider" | "react">,
  tools: readonly Tool[],
  agent: { readonly tools: readonly Tool[]; readonly subagents: readonly unknown[] } | null,
): void => {
  const all = [...tools, ...(agent?.tools ?? []), ...(agent?.subagents ?? [])];
  if (provider === "completion" && all.length > 0)
    throw new ArgumentError(
      "--provider completion goes on with a text, and calls no tools: leave out --tools and --mcp, and an --agent that has some",
    );
  if (react === true && tools.length === 0)
    throw new ArgumentError("--react is about tools, and there are none: give --tools or --mcp");
};

const chatMachine = (
  { window, "max-turns": turns, react }: Pick<OptionValues, "window" | "max-turns" | "react">,
  isAgent: boolean,
): MachineOptions => {
  const budget = window === undefined ? undefined : budgetOf(window);
  const shown = turns === undefined ? undefined : lastTurns(wholeNumber("max-turns", turns, 0, "20"));
  return {
    // A waiting person gives up sooner than a server. A queued ask waits for a turn that another process answers, or in
    // which it died.
    idleTimeoutMs: 120_000,
    overlap: { type: "queue", max: 64 },
    ...(budget === undefined ? {} : { budget }),
    ...policyOf(budget !== undefined, shown, isAgent),
    ...(react === true ? { limits: { steps: 10 } } : {}),
  };
};

/** The instructions for a model that reasons before it acts; the machine itself loops over calls and results. */
const reactInstructions =
  "Before each tool call, say in a sentence what you know, what is missing, and which tool gives it. When nothing is missing, answer.";

/** Returns the policy. An agent has its own policy, which keeps within a budget. */
const policyOf = (isBound: boolean, shown: Policy | undefined, isAgent: boolean): { readonly policy?: Policy } => {
  if (shown !== undefined) return { policy: isBound ? compose(shown, tokenWindow()) : shown };
  return isBound && !isAgent ? { policy: compactTurns() } : {};
};

const budgetOf = (window: string): NonNullable<MachineOptions["budget"]> => {
  const tokens = wholeNumber("window", window, 1, "128000");
  return { tokens, reserve: Math.min(Math.floor(tokens / 4), longestAnswer) };
};

/** Few answers are longer, in tokens. */
const longestAnswer = 8_000;

const wholeNumber = (option: string, text: string, least: number, example: string): number => {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new ArgumentError(
    `--${option} is "${text}"; it must be a whole number of ${least} or more, such as ${example}`,
  );
};
