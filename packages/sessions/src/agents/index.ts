export { agentFromFile, type AgentFileOptions } from "./agent-from-file.ts";
export { type AgentHost, agentHost, type AgentHostOptions, type RunOptions } from "./agent-host.ts";
export {
  type Agent,
  agentFileSchema,
  type AgentMemory,
  type AgentSignature,
  type FieldsSchema,
  type Subagent,
  type SubagentMemory,
} from "./file/agent.ts";
export { AgentFileError, type AgentFileProblem } from "./file/agent-reader.ts";
export type { AllowTools, ToolReference } from "./file/tools.ts";
export type { SubagentCall } from "./subagents/nested-thread.ts";
