import { checkKinds, checkValue, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError, type JsonObject, type MachineOptions } from "@colloquy/machine";
import {
  type AskHandle,
  type AskOptions,
  createHost,
  type Host,
  type HostOptions,
  hostOptionKinds,
  type LlmHandler,
  memoryStore,
  type Store,
} from "@colloquy/runtime-node";
import type { Agent, AgentMemory } from "./file/agent.ts";
import { signedAsk, subagentTool } from "./subagents/subagent-tool.ts";
import { subagentCalls, type SubagentCall } from "./subagents/nested-thread.ts";
import { compose, lastTurns, type Policy, summariseTurns, tokenWindow } from "@colloquy/machine/policies";

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
  const { recovery = {} } = given;
  const host = createHost({
    ...options,
    ...(defaultThread === undefined ? {} : { defaultThread }),
    thread: { ...(says === null ? {} : { system: says }), ...thread },
    ...below.partsOf(agent, model),
    recovery: recovery !== false && {
      ...recovery,
      continues: (metadata) => !isNested(metadata) && (recovery.continues?.(metadata) ?? true),
    },
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

/** The options that `createHost` does not get as they are. */
const optionKinds: Partial<OptionKinds<AgentHostOptions & { readonly tools?: undefined }>> = {
  llm: kinds.call,
  models: kinds.call,
  model: kinds.text,
  recovery: hostOptionKinds.recovery,
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
    return { ...page, threads: page.threads.filter(({ metadata }) => !isNested(metadata)) };
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

const isNested = (metadata: JsonObject): boolean => metadata["parentThread"] !== undefined;

/** The options that the hosts of an agent and of its subagents share. */
interface SharedOptions {
  readonly handlerOf: (model: string | null) => LlmHandler;
  readonly options: Omit<HostOptions, "llm" | "machine" | "tools">;
  readonly machine: AgentMachineOptions;
}

/** The hosts of an agent's subagents, created at their first call. */
class AgentHosts {
  readonly #shared: SharedOptions;
  /** By agent, and by the inherited model if its file names none. */
  readonly #made = new Map<Agent, Map<string | null, Host>>();

  constructor(shared: SharedOptions) {
    this.#shared = shared;
  }

  /** Returns the options that differ between agents: the handler of the model, the tools and the subagents. */
  partsOf(agent: Agent, model: string | null): Required<Pick<HostOptions, "llm" | "tools">> {
    const subagents = agent.subagents.map((subagent) => subagentTool(subagent, () => this.of(subagent.agent, model)));
    return { llm: this.#shared.handlerOf(model), tools: [...agent.tools, ...subagents] };
  }

  /** Returns the host of a subagent. @param above the model of its caller. */
  of(agent: Agent, above: string | null): Host {
    const model = agent.model ?? above;
    const byModel = this.#made.get(agent) ?? new Map<string | null, Host>();
    const made = byModel.get(model) ?? this.#make(agent, model);
    this.#made.set(agent, byModel.set(model, made));
    return made;
  }

  /** Returns the host at the end of a path of subagents. @throws ConfigurationError for an unknown name */
  at(agent: Agent, above: string | null, [name, ...names]: readonly [string, ...string[]]): Host {
    const found = agent.subagents.find((subagent) => subagent.name === name)?.agent;
    const [next, ...rest] = names;
    if (found === undefined) {
      const there = agent.subagents.map((subagent) => subagent.name).join(", ") || "none";
      throw new ConfigurationError(`agent "${agent.name}" has no subagent "${name}"; there are: ${there}`);
    }
    return next === undefined ? this.of(found, above) : this.at(found, found.model ?? above, [next, ...rest]);
  }

  async close(): Promise<void> {
    const hosts = [...this.#made.values()].flatMap((byModel) => [...byModel.values()]);
    await Promise.all(hosts.map((host) => host.close()));
  }

  #make(agent: Agent, model: string | null): Host {
    const { options, machine } = this.#shared;
    return createHost({
      ...options,
      // Nested threads continue with the calls that they answer.
      recovery: false,
      ...this.partsOf(agent, model),
      machine: agentMachine(agent, model, { overlap: { type: "queue", max: 64 }, ...machine }),
    });
  }
}

/** The options of a machine, without the tools, which the host declares. */
type AgentMachineOptions = Omit<MachineOptions, "tools">;

/** Returns the machine options of an agent; given options override its file. */
const agentMachine = (
  { memory, limits, modelParameters }: Agent,
  model: string | null,
  given: AgentMachineOptions,
): AgentMachineOptions => ({
  policy: policyOf(memory),
  ...given,
  limits: { ...limits, ...given.limits },
  model: { ...modelParameters, ...(model === null ? {} : { model }), ...given.model },
});

const policyOf = ({ maxTurns, compression }: AgentMemory): Policy =>
  compression === "none"
    ? compose(lastTurns(maxTurns), tokenWindow())
    : summariseTurns({ maxTurns, level: compression });
