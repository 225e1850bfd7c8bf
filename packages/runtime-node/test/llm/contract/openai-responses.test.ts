import { modelContract } from "@colloquy/runtime-test/contracts";
import { openaiResponses } from "../../../src/llm/openai.ts";

modelContract(
  "openaiResponses",
  ({ url, apiKey, stream }) => openaiResponses({ baseURL: url, apiKey, stream, model: "any" }),
  { dialect: "responses" },
);
