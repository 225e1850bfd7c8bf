// The names of OpenTelemetry's GenAI conventions, all of which are in development:
// open-telemetry/semantic-conventions-genai at commit 024a4f944a1291fcb627c9c47da69e79868dd15e. Names that begin with
// `colloquy.` are our own.

export const names = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  /** From the general conventions; some viewers group only by it. */
  session: "session.id",
  compacted: "gen_ai.conversation.compacted",
  outputType: "gen_ai.output.type",
  stopSequences: "gen_ai.request.stop_sequences",
  reasoningLevel: "gen_ai.request.reasoning.level",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  responseId: "gen_ai.response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  errorType: "error.type",
  turn: "colloquy.turn.number",
  turnStatus: "colloquy.turn.status",
  step: "colloquy.step.number",
  attempts: "colloquy.step.attempts",
  summary: "colloquy.summary.number",
  attemptFailed: "colloquy.attempt.failed",
  because: "colloquy.approval.because",
  approvalRequested: "colloquy.approval.requested",
  approved: "colloquy.approval.granted",
  denied: "colloquy.approval.denied",
} as const;

/** Describes the spans of an operation: the attributes in their names, and the metric of their durations. */
interface Operation {
  readonly kind: "internal" | "client";
  readonly named: readonly string[];
  readonly duration: string;
}

export const operations: Readonly<Record<"invoke_agent" | "chat" | "execute_tool", Operation>> = {
  invoke_agent: { kind: "internal", named: [names.agent], duration: "gen_ai.invoke_agent.duration" },
  chat: {
    kind: "client",
    named: [names.requestModel, names.responseModel],
    duration: "gen_ai.client.inference.duration",
  },
  execute_tool: { kind: "internal", named: [names.toolName], duration: "gen_ai.execute_tool.duration" },
};

/** The metrics of an inference's tokens, by the attribute of its span. */
export const tokenMetrics: ReadonlyMap<string, string> = new Map([
  [names.inputTokens, "gen_ai.client.inference.operation.input_tokens"],
  [names.outputTokens, "gen_ai.client.inference.operation.output_tokens"],
]);

/** The numeric parameters of a request, by their names at providers and in the AI SDK. */
export const requestNumbers: Readonly<Record<string, readonly string[]>> = {
  "gen_ai.request.temperature": ["temperature"],
  "gen_ai.request.top_p": ["top_p", "topP"],
  "gen_ai.request.top_k": ["top_k", "topK"],
  "gen_ai.request.max_tokens": ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"],
  "gen_ai.request.frequency_penalty": ["frequency_penalty", "frequencyPenalty"],
  "gen_ai.request.presence_penalty": ["presence_penalty", "presencePenalty"],
  "gen_ai.request.seed": ["seed"],
};
