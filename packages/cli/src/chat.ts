import { type Agent, agentHost } from "@colloquy/agents";
import { createHost, type HostedThread, type HostOptions, memoryStore } from "@colloquy/host";
import { compactTurns } from "@colloquy/machine/policies";
import { conversationMachine, type MachineOptions, textOf } from "@colloquy/machine";
import { openaiChat, randomIds, systemClock } from "@colloquy/runtime-node";
import { agentOf, askOf, notesOf } from "./agent-chat.ts";
import type { CommandContext } from "./command-context.ts";
import { openStore } from "./kept-threads.ts";
import { converseOn, type ConverseOptions } from "@colloquy/terminal";
import { oneLine } from "@colloquy/terminal";
import type { OptionValues } from "./options.ts";

type ChatOptions = Pick<
  OptionValues,
  "thread" | "store" | "model" | "base-url" | "system" | "window" | "agent" | "allow-tools"
>;

/** A conversation with a model on a server, or with the agent of a file. Gives the exit code. */
export const chat = async (options: ChatOptions, context: CommandContext): Promise<number> => {
  const { input, printer, isTerminal, environment, signal } = context;
  const agent = await agentOf(options, context);
  const { apiKey, baseURL, model } = serverOf(options, agent, environment);
  const { store: file, thread: threadId = "chat" } = options;
  const llm = openaiChat({ apiKey, baseURL, model, tools: [] });
  const system = options.system ?? agent?.instructions ?? undefined;
  const store = file === undefined ? memoryStore({ clock: systemClock }) : openStore(file);
  const { host, ...notes } = hostOf(options, agent, {
    store,
    llm,
    clock: systemClock,
    ids: randomIds,
    // After a crash the next run must not wait long for the thread.
    leaseTtlMs: 5_000,
    ...(system === undefined ? {} : { thread: { system } }),
  });
  try {
    const kept = file === undefined ? "nothing is kept (--store FILE would)" : `kept in ${file}`;
    const who = agent === null ? "" : `${agent.name}: `;
    printer.line(oneLine(`${who}${model} at ${withoutSecrets(baseURL)}; ${kept}`));
    if (system !== undefined) await useSystem(host.thread(threadId), system);
    const { failures } = await converseOn(printer, { host, threadId, input, isTerminal, signal, ...notes });
    return !isTerminal && (failures > 0 || signal.aborted) ? 1 : 0;
  } finally {
    await host.close();
    await store.close();
  }
};

/** The host, and what it says of subagents behind the figures of a turn. */
const hostOf = (
  { window, model }: ChatOptions,
  agent: Agent | null,
  parts: Omit<HostOptions, "machine">,
): Pick<ConverseOptions, "ask" | "host" | "notes"> => {
  // Somebody who looks on gives up sooner than a server; a queued ask waits for a turn that another process answers, or died at.
  const waiting: MachineOptions = { idleTimeoutMs: 120_000, overlap: { type: "queue", max: 64 } };
  const budget = window === undefined ? {} : { budget: budgetOf(window) };
  if (agent !== null) {
    const named = model === undefined ? {} : { model };
    // What is thrown stands in the error of the ask.
    const quiet = { onObserverError: () => {} };
    const host = agentHost(agent, { ...parts, ...quiet, ...named, machine: { ...waiting, ...budget } });
    const ask = askOf(host);
    return { host, notes: notesOf(host), ...(ask === undefined ? {} : { ask }) };
  }
  const policy = window === undefined ? {} : { policy: compactTurns() };
  return { host: createHost({ ...parts, machine: conversationMachine({ ...waiting, ...budget, ...policy }) }) };
};

/** Where a model is. */
interface Server {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly model: string;
}

/** The server that options, an agent and environment name. @throws Error where they name none, or none that can be */
export const serverOf = (
  options: Pick<OptionValues, "model" | "base-url">,
  agent: Pick<Agent, "model"> | null,
  environment: CommandContext["environment"],
): Server => {
  const given = options["base-url"] ?? present(environment["OPENAI_BASE_URL"]);
  const apiKey = present(environment["OPENAI_API_KEY"]);
  if (apiKey === undefined && given === undefined) {
    throw new Error("no model to talk to: set OPENAI_API_KEY, or give the --base-url of a server that needs no key");
  }
  if (given !== undefined && !URL.canParse(given)) {
    throw new Error(`the base URL "${given}" is no URL; give one such as http://127.0.0.1:8080/v1`);
  }
  return {
    // The client wants a key, also for a server that wants none.
    apiKey: apiKey ?? "none",
    baseURL: given ?? "https://api.openai.com/v1",
    model: options.model ?? agent?.model ?? present(environment["OPENAI_MODEL"]) ?? "gpt-4o-mini",
  };
};

/** An address without what may be a key in it. */
export const withoutSecrets = (address: string): string => {
  const url = new URL(address);
  return `${url.protocol}//${url.host}${url.pathname}`;
};

/** The window, with room for an answer. */
const budgetOf = (window: string): NonNullable<MachineOptions["budget"]> => {
  const tokens = Number(window);
  if (!(Number.isSafeInteger(tokens) && tokens >= 1)) {
    throw new Error(`--window is "${window}"; it must be a whole number of tokens, such as 128000`);
  }
  return { tokens, reserve: Math.min(Math.floor(tokens / 4), longestAnswer) };
};

/** What answers seldom exceed. Unit: tokens. */
const longestAnswer = 8_000;

const present = (value: string | undefined): string | undefined => (value === "" ? undefined : value);

/** A thread that is there already has a system prompt of its own. */
const useSystem = async (thread: HostedThread, system: string): Promise<void> => {
  const state = await thread.state();
  if (state === null) return;
  const present = state.context.conversation.system;
  if (present === null || textOf(present) !== system) await thread.changeSystem(system);
};
