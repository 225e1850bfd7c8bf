import type { LlmHandler } from "@colloquy/host";
import type { StrictFamily } from "../../server/strict/strict-server.ts";

/** A handler to check against the law on bytes, and the strict server for its requests. */
export interface WireTarget {
  /** For messages. */
  readonly name: string;
  readonly family: StrictFamily;
  /** The name of the model. Default: one that servers of the family offer. */
  readonly model?: string;
  /** Makes the handler. It must send its requests with this `fetch`. */
  readonly handler: (server: WireServer) => LlmHandler;
}

/** The access of a handler to the strict server. */
export interface WireServer {
  readonly fetch: typeof fetch;
  /** The base URL of the family's real server. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
}

/** The API of a family's server. */
export type WireApi = "chat" | "responses" | "messages" | "text";

export const apiOf = (family: StrictFamily): WireApi => apis[family] ?? "chat";

/** Returns the server of a target, with the base URL and model of the real one. */
export const serverOf = ({ family, model }: WireTarget, given: typeof fetch): WireServer => {
  const [baseURL, usual] = places[family];
  return { fetch: given, baseURL, apiKey: "none", model: model ?? usual };
};

const apis: { readonly [Family in StrictFamily]?: WireApi } = {
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "text-completions": "text",
};

/** The base URL of each family, and one of its models. */
const places: { readonly [Family in StrictFamily]: readonly [baseURL: string, model: string] } = {
  "openai-chat": ["https://api.openai.com/v1", "gpt-5"],
  "openai-responses": ["https://api.openai.com/v1", "gpt-5"],
  anthropic: ["https://api.anthropic.com/v1", "claude-sonnet-4-6"],
  "anthropic-messages": ["https://api.anthropic.com/v1", "claude-sonnet-4-6"],
  gemini: ["https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro-preview"],
  mistral: ["https://api.mistral.ai/v1", "mistral-large-latest"],
  deepseek: ["https://api.deepseek.com/v1", "deepseek-reasoner"],
  groq: ["https://api.groq.com/openai/v1", "openai/gpt-oss-120b"],
  "llama.cpp": ["http://127.0.0.1:8080/v1", "any"],
  ollama: ["http://127.0.0.1:11434/v1", "qwen3"],
  vllm: ["http://127.0.0.1:8000/v1", "qwen3"],
  kimi: ["https://api.moonshot.ai/v1", "kimi-k2.5"],
  openrouter: ["https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.6"],
  "text-completions": ["http://127.0.0.1:8080/v1", "any"],
};
