import type { ToolCallDraft } from "../../thread/message.ts";
import type { SynthesisedResult } from "../protocol/entry.ts";

/**
 * Returns whether a finish reason means that the reply is incomplete. Providers write it in upper or lower case, with
 * `-` or `_`. Sources: the API references of OpenAI (`length`, `content_filter`; `max_output_tokens` and `incomplete`
 * of Responses), Anthropic (`max_tokens`, `refusal`, `model_context_window_exceeded`), Mistral (`model_length`,
 * `error`), DeepSeek (`insufficient_system_resource`), Gemini (`MAX_TOKENS`, `SAFETY`, `RECITATION`, …), vLLM and
 * SGLang (`abort`).
 */
export const saysCut = (finishReason: string | null): boolean =>
  finishReason !== null && cutReasons.includes(finishReason.toLowerCase().replaceAll("-", "_"));

const cutReasons: readonly string[] = [
  "length",
  "max_tokens",
  "max_output_tokens",
  "model_length",
  "model_context_window_exceeded",
  "content_filter",
  "content_filtered",
  "guardrail_intervened",
  "incomplete",
  "insufficient_system_resource",
  "malformed_function_call",
  "unexpected_tool_call",
  "safety",
  "image_safety",
  "recitation",
  "language",
  "blocklist",
  "prohibited_content",
  "spii",
  "refusal",
  "error",
  "abort",
  "aborted",
  "cancelled",
  "canceled",
];

/**
 * Returns results for the calls of an incomplete reply. None of them runs, since the model may not have finished
 * writing it.
 */
export const resultsOfCutCalls = (
  calls: readonly ToolCallDraft[],
  finishReason: string | null,
): readonly SynthesisedResult[] =>
  calls.map((_, position) => ({
    position,
    outcome: "refused",
    content: [
      {
        type: "text",
        text: `Not run: the reply was cut off before the call was complete (${finishReason ?? "no reason"}). Call again, with less text if the reply was too long.`,
      },
    ],
  }));
