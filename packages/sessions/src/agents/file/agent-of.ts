import type { Tool } from "@colloquy/host";
import { frozenCopy } from "@colloquy/machine/hosting";
import type { Agent, FieldsSchema, Subagent } from "./agent.ts";
import type { AgentFields, SignatureFields } from "./agent-fields.ts";
import { readSignatureText } from "./signature-text.ts";

/** Makes the agent of these fields, with defaults for missing ones. */
export const agentOf = (
  { file, name }: Pick<Agent, "file" | "name">,
  fields: AgentFields,
  tools: readonly Tool[],
  subagents: readonly Subagent[],
): Agent => {
  const { description = null, model = null, modelParameters = {}, instructions = null } = fields;
  const signature = typeof fields.signature === "string" ? readSignatureText(fields.signature) : fields.signature;
  const { memory = {}, limits = {}, compression, max_context_turns, max_iters } = fields;
  return Object.freeze({
    file,
    name,
    description,
    model,
    modelParameters: frozenCopy(modelParameters),
    instructions,
    signature:
      signature === undefined
        ? null
        : frozenCopy({ inputs: objectOf(signature.inputs), outputs: objectOf(signature.outputs) }),
    tools: Object.freeze(tools),
    subagents: Object.freeze(subagents),
    memory: Object.freeze({
      maxTurns: memory.maxTurns ?? max_context_turns ?? 20,
      compression: memory.compression ?? compression ?? "concise",
    }),
    limits: Object.freeze({ steps: limits.steps ?? max_iters ?? 20 }),
  });
};

const objectOf = (fields: SignatureFields): FieldsSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [name, typeof type === "string" ? { type } : type]),
  ),
  required: Object.keys(fields),
  additionalProperties: false,
});
