import { modelContract } from "@colloquy/runtime-test/contracts";
import { openaiChat } from "../../../src/llm/openai.ts";

modelContract("openaiChat", ({ url, apiKey, stream }) => openaiChat({ baseURL: url, apiKey, stream, model: "any" }), {
  dialect: "chat",
});
