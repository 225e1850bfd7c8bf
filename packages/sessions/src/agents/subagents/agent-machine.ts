import type { MachineOptions } from "@colloquy/machine";
import { compose, lastTurns, type Policy, summariseTurns, tokenWindow } from "@colloquy/machine/policies";
import type { Agent, AgentMemory } from "../file/agent.ts";

/** The options of a machine, without the tools, which the host declares. */
export type AgentMachineOptions = Omit<MachineOptions, "tools">;

/** Returns the machine options of an agent; given options override its file. */
export const agentMachine = (
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
