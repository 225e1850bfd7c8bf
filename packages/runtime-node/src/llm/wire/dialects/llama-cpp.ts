import { type Dialect, dialect } from "./dialect.ts";

/**
 * The server of llama.cpp (ggml-org/llama.cpp, common/chat.cpp and tools/server).
 * - arguments: "Failed to parse tool call arguments as JSON" (500)
 * - texts: common_chat_msgs_parse_oaicompat takes a list of texts
 * - images: oaicompat_chat_params_parse takes them of models that see, and templates show those of users
 * - fields: common_chat_msgs_parse_oaicompat reads reasoning_content
 */
export const llamaCpp: Dialect = dialect("llama.cpp", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  fields: ["reasoning_content"],
});
