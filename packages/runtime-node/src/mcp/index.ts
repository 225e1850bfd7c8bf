export { McpError } from "./mcp-error.ts";
export { mcpTools, type McpOptions, type McpTools } from "./mcp-tools.ts";
export type { McpToolProblem, OfferedTool } from "./offered-tools.ts";
export type { HttpTransport, McpTransport, StdioTransport } from "./transport.ts";
