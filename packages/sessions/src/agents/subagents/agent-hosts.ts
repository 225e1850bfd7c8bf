import { ConfigurationError } from "@colloquy/machine";
import { createHost, type Host, type HostOptions, type LlmHandler } from "@colloquy/runtime-node";
import type { Agent } from "../file/agent.ts";
import { agentMachine, type AgentMachineOptions } from "./agent-machine.ts";
import { subagentTool } from "./subagent-tool.ts";

/** The options that the hosts of an agent and of its subagents share. */
export interface SharedOptions {
  readonly handlerOf: (model: string | null) => LlmHandler;
  readonly options: Omit<HostOptions, "llm" | "machine" | "tools">;
  readonly machine: AgentMachineOptions;
}

/** The hosts of an agent's subagents, created at their first call. */
export class AgentHosts {
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
