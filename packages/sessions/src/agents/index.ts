export { agentFromFile, type AgentFileOptions } from "./agent-from-file.ts";
export { type AgentHost, agentHost, type AgentHostOptions, type RunOptions } from "./agent-host.ts";
export type { Agent, AgentMemory, AgentSignature, FieldsSchema, Subagent, SubagentMemory } from "./file/agent.ts";
export { agentFileSchema } from "./file/agent-fields.ts";
export { AgentFileError, type AgentFileProblem } from "./file/agent-file-error.ts";
export type { AllowTools, ToolReference } from "./file/tools.ts";
export type { SubagentCall } from "./subagents/calls.ts";
