import type { ToolCallDraft } from "../../thread/message.ts";
import type { SynthesisedResult } from "../protocol/entry.ts";

/**
 * Returns whether a finish reason means that the reply is incomplete. Servers have many words for it, in upper or lower
 * case, with `-` or `_`, so parts of these words decide. Sources: the API references of OpenAI (`length`,
 * `content_filter`; `max_output_tokens` and `incomplete` of Responses), Anthropic (`max_tokens`, `refusal`,
 * `model_context_window_exceeded`), Mistral (`model_length`, `error`), DeepSeek (`insufficient_system_resource`),
 * Gemini (`MAX_TOKENS`, `SAFETY`, `RECITATION`, `MALFORMED_FUNCTION_CALL`, `TOO_MANY_TOOL_CALLS`, …), Zhipu
 * (`sensitive`, `network_error`), Cohere (`ERROR_TOXIC`, `USER_CANCEL`, `TIMEOUT`), vLLM and SGLang (`abort`).
 */
export const saysCut = (finishReason: string | null): boolean => finishReason !== null && cutWords.test(finishReason);

const cutWords =
  /length|max.*tokens|limit|exceeded|truncat|incomplete|interrupt|insufficient|overload|abort|cancel|error|timeout|malformed|unexpected|too[-_]many|filter|safety|sensitive|guardrail|recitation|language|blocklist|prohibited|spii|toxic|refusal/i;

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
