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
import { type Choice, type ConverseOptions, oneLine } from "@colloquy/terminal";
import { chatMachine, reactInstructions } from "./chat-machine.ts";
import { threadIdOf } from "./chat-thread.ts";
import { chatTools } from "./chat-tools.ts";
import type { CommandContext } from "./command-context.ts";
import { openStore, placeOfStore, sessionFile } from "./kept-threads.ts";
import { modelChoice } from "./model-choice.ts";
import { providerOf } from "./models.ts";
import { checkTogether, checkTools } from "./check-options.ts";
import type { OptionValues } from "./options.ts";
import type { Settled } from "./settings.ts";
import type { Asked, FollowedChat } from "./turn.ts";
import { waitingOf } from "./waiting.ts";
import { promptText } from "./turn-notes.ts";

/** A conversation that can be had. */
export interface Chat extends FollowedChat {
  /** How it is asked. */
  readonly ask: (input: Content, threadId: string) => Asked;
  /** Whether a text may be sent into a turn: not where it would be no input of a signature. */
  readonly steers: boolean;
  readonly models: Choice;
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
  { options, pricing, files, systemIsForNew }: Settled,
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
  checkTools(options, tools, agent);
  const store = place === undefined ? memoryStore({ clock: systemClock }) : await openStore(place);
  opens(() => store.close());
  const system = systemOf(options, agent?.instructions ?? undefined);
  const notices: Chat["notices"] = { show: (text) => text.split("\n").forEach((line) => errors.line(line)) };
  const parts = partsOf(store, system, options.debug === true ? notices : null);
  const models = modelChoice(options.model, provider.model, pricing);
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
      : module.hostOfAgent(agent, tools, provider, { ...parts, machine }, options.model, notices);
  opens(() => host.close());
  const threadId = await threadIdOf(options, host, context);
  if (system !== undefined && !systemIsForNew) await useSystem(host.thread(threadId), system);
  const kept = place === undefined ? "nothing is kept (--store FILE would)" : `kept in ${placeOfStore(place)}`;
  const who = agent === null ? "" : `${agent.name}: `;
  return {
    host,
    threadId,
    ...asking,
    ask: (input, id) => ask(input, id, models.asked()),
    models,
    notices,
    about: oneLine(
      `${who}${provider.model} at ${provider.name}; ${kept}${files.length === 0 ? "" : `; with ${files.join(" and ")}`}`,
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
  onNestedApproval: new Set<() => void>(),
  waiting: (threadId: string) => waitingOf(host.thread(threadId)),
  ask: (input: Content, threadId: string, asked: AskOptions): Asked => host.thread(threadId).ask(input, asked),
});

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
