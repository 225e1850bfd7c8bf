import { ConfigurationError } from "@colloquy/machine";
import { createHost, type Host, type HostOptions, type LlmHandler } from "@colloquy/runtime-node";
import type { Agent } from "../file/agent.ts";
import { agentMachine, type AgentMachineOptions } from "./agent-machine.ts";
import { subagentTool } from "./subagent-tool.ts";

/** What the hosts of an agent and of its subagents share. */
export interface SharedOptions {
  readonly handlerOf: (model: string | null) => LlmHandler;
  readonly options: Omit<HostOptions, "llm" | "machine" | "tools">;
  readonly machine: AgentMachineOptions;
}

/** The hosts of an agent's subagents, made when they are first called. */
export class AgentHosts {
  readonly #shared: SharedOptions;
  /** By agent, and by the model that it runs with where its file names none. */
  readonly #made = new Map<Agent, Map<string | null, Host>>();

  constructor(shared: SharedOptions) {
    this.#shared = shared;
  }

  /** What a host of an agent has of its own: the handler for its model, its tools and its subagents. */
  partsOf(agent: Agent, model: string | null): Required<Pick<HostOptions, "llm" | "tools">> {
    const subagents = agent.subagents.map((subagent) => subagentTool(subagent, () => this.of(subagent.agent, model)));
    return { llm: this.#shared.handlerOf(model), tools: [...agent.tools, ...subagents] };
  }

  /** The host of a subagent. @param above the model of its caller. */
  of(agent: Agent, above: string | null): Host {
    const model = agent.model ?? above;
    const byModel = this.#made.get(agent) ?? new Map<string | null, Host>();
    const made = byModel.get(model) ?? this.#make(agent, model);
    this.#made.set(agent, byModel.set(model, made));
    return made;
  }

  /** The host at the end of a path of subagents. @throws ConfigurationError for a name that is none */
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
    const { owner } = options;
    return createHost({
      ...options,
      // Nested threads continue with the calls that they answer.
      recovery: false,
      ...this.partsOf(agent, model),
      machine: agentMachine(agent, model, { overlap: { type: "queue", max: 64 }, ...machine }),
      ...(owner === undefined ? {} : { owner: `${owner}/${agent.name}` }),
    });
  }
}
