import { modelContract } from "@colloquy/runtime-test/contracts";
import { promptFormat } from "@colloquy/interchange/templates";
import { textCompletion } from "../../../src/llm/openai.ts";

const template = promptFormat({
  system_prompt: { pre: "", suf: "\n\n" },
  prompt: { pre: "", suf: "" },
  user: { role: "User", role_sep: ":", pre: "", suf: "\n" },
  agent: { role: "Assistant", role_sep: ":", pre: "", suf: "\n" },
});

modelContract(
  "textCompletion",
  ({ url, apiKey, stream }) => textCompletion({ baseURL: url, apiKey, stream, model: "any", template }),
  { dialect: "completions", without: ["tools", "refusals", "reasoning"] },
);
