export {
  type PlainMessage,
  type PlainToolCall,
  type PlainToolResult,
  type PromptView,
  viewPrompt,
} from "./prompt-view.ts";
export { type Rule, ruleModel, type RuleModelOptions } from "./rule-model.ts";
export {
  type CompletionOptions,
  fails,
  type FailureScript,
  never,
  type Piece,
  type PromptMatcher,
  reply,
  type ReplyOptions,
  type ScriptLine,
  streams,
  toolCalls,
  type ToolCallScript,
} from "./script.ts";
export { scriptedModel, type ScriptedModel, UnexpectedCallError } from "./scripted-model.ts";
