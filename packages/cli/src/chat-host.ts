import {
  type AskOptions,
  createHost,
  declarationsOf,
  type Host,
  type HostedThread,
  type HostOptions,
  memoryStore,
  type Store,
} from "@colloquy/host";
import { type Content, conversationMachine, textOf } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { type Choice, type ConverseOptions, keymapOf, named, oneLine, themeNamed } from "@colloquy/terminal";
import { chatMachine, reactInstructions } from "./chat-machine.ts";
import { threadIdOf } from "./chat-thread.ts";
import { chatTools } from "./chat-tools.ts";
import type { CommandContext } from "./command-context.ts";
import { ArgumentError } from "./exit-code.ts";
import { openStore, placeOfStore, sessionFile } from "./kept-threads.ts";
import { modelChoice } from "./model-choice.ts";
import { providerOf } from "./models.ts";
import { exclusive, type OptionValues } from "./options.ts";
import type { Settled } from "./settings.ts";
import type { Asked } from "./turn.ts";
import { type Waiting, waitingOf } from "./waiting.ts";
import { promptText } from "./turn-notes.ts";

/** A conversation that can be had. */
export interface Chat {
  readonly host: Host;
  readonly threadId: string;
  /** How it is asked. */
  readonly ask: (input: Content, threadId: string) => Asked;
  /** Whether a text may be sent into a turn: not where it would be no input of a signature. */
  readonly steers: boolean;
  readonly models: Choice;
  /** What a thread waits for of people. */
  readonly waiting: (threadId: string) => Promise<Waiting>;
  /** Called when a subagent begins to wait for an approval. */
  readonly onNestedApproval: Set<() => void>;
  /** Shows what is said beside answers; a conversation on a screen shows it there. */
  readonly notices: { show: (text: string) => void };
  readonly notes?: ConverseOptions["notes"];
  /** With what it is, and where it is kept, in one line. */
  readonly about: string;
  /** How somebody else reaches its threads; null where nothing is kept. */
  readonly store: string | null;
  readonly close: () => Promise<void>;
}

/** Makes a conversation of options: its model, tools, store and thread. @throws for whatever can't be used; nothing is open then */
export const openedChat = async (settings: Settled, context: CommandContext): Promise<Chat> => {
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened.toReversed()) await each();
  };
  try {
    return { ...(await chatOf(settings, context, (each) => opened.push(each))), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
};

const chatOf = async (
  { options, pricing, project }: Settled,
  context: CommandContext,
  opens: (close: () => Promise<void>) => void,
): Promise<Omit<Chat, "close">> => {
  const { errors, environment } = context;
  checkTogether(options);
  const place = options.session === undefined ? options.store : sessionFile(options.session);
  const machine = {
    ...chatMachine(options, options.agent !== undefined),
    ...(pricing === undefined ? {} : { pricing }),
  };
  const module = options.agent === undefined ? null : await import("./agent-chat.ts");
  const agent = (await module?.agentOf(options.agent ?? "", options, context)) ?? null;
  const provider = await providerOf(options, agent, environment);
  const { tools, close: closeTools } = await chatTools(options, errors);
  opens(closeTools);
  if (
    options.provider === "completion" &&
    tools.length + (agent?.tools.length ?? 0) + (agent?.subagents.length ?? 0) > 0
  )
    throw new ArgumentError(
      "--provider completion goes on with a text, and calls no tools: leave out --tools and --mcp, and an --agent that has some",
    );
  if (options.react === true && tools.length === 0)
    throw new ArgumentError("--react is about tools, and there are none: give --tools or --mcp");
  const store = place === undefined ? memoryStore({ clock: systemClock }) : await openStore(place);
  opens(() => store.close());
  const system = systemOf(options, agent?.instructions ?? undefined);
  const notices: Chat["notices"] = { show: (text) => text.split("\n").forEach((line) => errors.line(line)) };
  const parts = partsOf(store, system, options.debug === true ? notices : null);
  const models = modelChoice(options.model, provider.model, pricing);
  let threadId = "";
  const onNestedApproval: Chat["onNestedApproval"] = new Set();
  const { host, ask, ...asking } =
    module === null || agent === null
      ? plain(
          createHost({
            ...parts,
            tools,
            llm: provider.handler(provider.model),
            machine: conversationMachine({ ...machine, tools: declarationsOf(tools) }),
          }),
        )
      : module.hostOfAgent(
          agent,
          tools,
          provider,
          { ...parts, machine },
          options.model,
          ({ name, id, threadId: nested }) => {
            if (nested === threadId) return;
            for (const listener of onNestedApproval) listener();
            if (onNestedApproval.size === 0)
              notices.show(
                `  a subagent waits for approval of ${oneLine(name)}, which can't be given here: ${named(id)}`,
              );
          },
        );
  opens(() => host.close());
  threadId = await threadIdOf(options, host, context);
  if (system !== undefined) await useSystem(host.thread(threadId), system);
  const kept = place === undefined ? "nothing is kept (--store FILE would)" : `kept in ${placeOfStore(place)}`;
  const who = agent === null ? "" : `${agent.name}: `;
  return {
    host,
    threadId,
    ...asking,
    ask: (input, id) => ask(input, id, models.asked()),
    models,
    notices,
    onNestedApproval,
    about: oneLine(
      `${who}${provider.model} at ${provider.name}; ${kept}${project === null ? "" : `; with ${project}`}`,
    ),
    store: place === undefined ? null : placeOfStore(place),
  };
};

/** What hosts of agents and others share. @param prompts where those of all model calls are shown. */
const partsOf = (
  store: Store,
  system: string | undefined,
  prompts: Chat["notices"] | null,
): Omit<HostOptions, "llm" | "machine" | "tools"> => ({
  store,
  clock: systemClock,
  ids: randomIds,
  // After a crash the next run must not wait long for the thread.
  leaseTtlMs: 5_000,
  ...(system === undefined ? {} : { thread: { system } }),
  ...(prompts === null ? {} : { hooks: { beforeStep: (call) => prompts.show(promptText(call)) } }),
});

const plain = (host: Host) => ({
  host,
  steers: true,
  waiting: (threadId: string) => waitingOf(host.thread(threadId)),
  ask: (input: Content, threadId: string, asked: AskOptions): Asked => host.thread(threadId).ask(input, asked),
});

/** @throws ArgumentError for options that say two things at once */
const checkTogether = (options: OptionValues): void => {
  for (const [one, other] of exclusive) {
    if (options[one] !== undefined && options[other] !== undefined)
      throw new ArgumentError(`--${one} and --${other} exclude each other; give one of them`);
  }
  const { keys = "standard", theme = "dark", agent, mcp = [] } = options;
  // Both throw for a name that there is not.
  keymapOf(keys);
  themeNamed(theme);
  if (options["allow-tools"] === true && agent === undefined && mcp.length === 0)
    throw new ArgumentError(
      "--allow-tools is about the tools of an agent or of MCP servers: there is no --agent and no --mcp",
    );
  if (options.reason !== undefined && options.deny === undefined)
    throw new ArgumentError("--reason says why a call is denied: give --deny as well");
};

const systemOf = ({ system, react }: OptionValues, instructions: string | undefined): string | undefined => {
  const texts = [system ?? instructions, react === true ? reactInstructions : undefined];
  const given = texts.filter((text) => text !== undefined);
  return given.length === 0 ? undefined : given.join("\n\n");
};

/** A thread that is there already has a system prompt of its own. */
const useSystem = async (thread: HostedThread, system: string): Promise<void> => {
  const state = await thread.state();
  if (state === null) return;
  const present = state.context.conversation.system;
  if (present === null || textOf(present) !== system) await thread.changeSystem(system);
};
