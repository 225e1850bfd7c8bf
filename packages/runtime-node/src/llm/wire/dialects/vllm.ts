import { type Dialect, dialect } from "./dialect.ts";

/**
 * vLLM (vllm-project/vllm, entrypoints/chat_utils.py).
 * - arguments: _postprocess_messages parses them, 400 where they are no JSON
 * - ids: make_tool_call_id writes `functions.weather:0` for Kimi K2, which wants it back
 * - images: _parse_chat_message_content takes parts of any role
 * - fields: reasoning_content and reasoning of an assistant are read
 */
export const vllm: Dialect = dialect("vllm", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  images: "everywhere",
  fields: ["reasoning_content", "reasoning"],
});
