import { checkKinds, checkValue, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError, type JsonObject } from "@colloquy/machine";
import {
  type AskHandle,
  type AskOptions,
  createHost,
  type Host,
  type HostOptions,
  type LlmHandler,
  memoryStore,
  type Store,
} from "@colloquy/runtime-node";
import type { Agent } from "./file/agent.ts";
import { AgentHosts } from "./subagents/agent-hosts.ts";
import { agentMachine, type AgentMachineOptions } from "./subagents/agent-machine.ts";
import { signedAsk } from "./subagents/signature.ts";
import { subagentCalls, type SubagentCall } from "./subagents/calls.ts";

/** The runtime of a file's agent: a model handler, a store, and options that override the file. */
export interface AgentHostOptions extends Omit<HostOptions, "llm" | "machine" | "store" | "tools"> {
  /**
   * Calls all models; the parameter `model` of the call contains the name from the file. Set either this or `models`.
   */
  readonly llm?: LlmHandler;
  /** Returns the handler of a model by name; null if no file names one. */
  readonly models?: (model: string | null) => LlmHandler;
  /** Stores the threads of the agent, and those of its subagents. */
  readonly store: Store;
  /** The model; overrides the file's, and applies to subagents that name none. */
  readonly model?: string;
  /** Options that override the file. Subagents inherit all except `limits`, `model`, `overlap` and `policy`. */
  readonly machine?: AgentMachineOptions;
}

/** The conversations of an agent. `threads` and recovery pass over those of its subagents: they continue the calls that they answer. */
export interface AgentHost extends Host {
  readonly agent: Agent;
  /**
   * Asks with the inputs of the agent's signature, each as a data part. The result has the checked outputs as `output`.
   *
   * @throws TypeError for inputs that do not match, and for an agent without a signature.
   */
  run(inputs: JsonObject, options?: RunOptions): AskHandle<JsonObject>;
  /**
   * Returns the subagent calls in a thread, or in one of its turns, and their usage, which the thread's usage does not
   * include. Takes no lease.
   */
  calls(threadId: string, turn?: number): Promise<readonly SubagentCall[]>;
  /**
   * Returns the host of a subagent, by the names of the tools that lead to it; for example to answer an approval on a
   * nested thread.
   */
  subagent(...names: readonly [string, ...string[]]): Host;
}

/** The options of a run: those of an ask, except that the signature determines the output. */
export type RunOptions = Omit<AskOptions, "output"> & { readonly threadId?: string };

/**
 * Makes a host in which an agent answers, with its instructions, model, tools, limits and memory, and its subagents as
 * tools. The options override the file.
 *
 * @throws ConfigurationError for invalid options.
 */
export const agentHost = (agent: Agent, given: AgentHostOptions): AgentHost => {
  checkValue("agentHost: agent", agent, agentKind);
  checkValue("agentHost: options", given, kinds.needed(kinds.object));
  checkValue("agentHost: store", given.store, kinds.needed(kinds.store));
  checkKinds("agentHost", given, optionKinds);
  const { llm, models, model: named, machine = {}, store, ...others } = given;
  const { system, thread, defaultThread, ...options } = others;
  const { limits: _, model: __, overlap: ___, policy: ____, ...inherited } = machine;
  const handlerOf = handlersOf(llm, models);
  const below = new AgentHosts({ handlerOf, options: { ...options, store }, machine: inherited });
  const model = named ?? agent.model;
  const says = system ?? agent.instructions;
  const host = createHost({
    ...options,
    ...(defaultThread === undefined ? {} : { defaultThread }),
    thread: { ...(says === null ? {} : { system: says }), ...thread },
    ...below.partsOf(agent, model),
    store: withoutNested(store),
    machine: agentMachine(agent, model, machine),
  });
  const close = async (): Promise<void> => {
    // The caller's host first: closing it does not cancel its nested calls, so they can continue with it later.
    await host.close();
    await below.close();
  };
  return {
    agent,
    threadDefaults: host.threadDefaults,
    machine: host.machine,
    run: (inputs, asked) => {
      const { input, output } = signedAsk(agent, inputs);
      return host.ask(input, { ...asked, output });
    },
    ask: host.ask.bind(host),
    thread: (id) => host.thread(id),
    threads: (wanted) => host.threads(wanted),
    search: (...wanted) => host.search(...wanted),
    importJournal: (...journal) => host.importJournal(...journal),
    importMessages: (...messages) => host.importMessages(...messages),
    start: () => host.start(),
    inMemory: () => agentHost(agent, { ...given, store: memoryStore(), recovery: false }),
    calls: (threadId, turn) => subagentCalls(host, agent, threadId, turn),
    subagent: (...names) => below.at(agent, model, names),
    close,
    [Symbol.asyncDispose]: close,
  };
};

const agentKind = kinds.needed(
  kinds.of("an agent, as agentFromFile gives it", (value) =>
    ["memory", "limits", "tools", "subagents"].every((name) => typeof Reflect.get(Object(value), name) === "object"),
  ),
);

/** The options that `createHost` does not check. */
const optionKinds: Partial<OptionKinds<AgentHostOptions & { readonly tools?: undefined }>> = {
  llm: kinds.call,
  models: kinds.call,
  model: kinds.text,
  machine: kinds.object,
  thread: kinds.object,
  system: kinds.of(
    "a text, or { role, content }",
    (value) => typeof value === "string" || Reflect.get(Object(value), "content") !== undefined,
  ),
  tools: kinds.of("left out: the tools are those of the agent, as in { ...agent, tools }", () => false),
};

const handlersOf = (
  llm: AgentHostOptions["llm"],
  models: AgentHostOptions["models"],
): ((model: string | null) => LlmHandler) => {
  if (models !== undefined && llm === undefined) return models;
  if (llm !== undefined && models === undefined) return () => llm;
  throw new ConfigurationError(
    "agentHost takes either llm, which calls all models, or models, a function that gives what calls the model of a name",
  );
};

/** Returns the store without the threads of subagents in its lists, because their callers continue them. */
const withoutNested = (store: Store): Store => {
  const list: Store["list"] = async (options) => {
    const page = await store.list(options);
    return { ...page, threads: page.threads.filter(({ metadata }) => metadata["parentThread"] === undefined) };
  };
  return new Proxy(store, {
    get: (target, name): unknown => {
      if (name === "list") return list;
      const member: unknown = Reflect.get(target, name, target);
      // Bound, because stores may be objects of a class with private members.
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
};
