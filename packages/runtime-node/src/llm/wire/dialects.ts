import { isObject } from "../reply/loose-json.ts";
import { common, type Dialect } from "./dialects/dialect.ts";
import { anthropic } from "./dialects/anthropic.ts";
import { deepseek } from "./dialects/deepseek.ts";
import { gemini, gemini2 } from "./dialects/gemini.ts";
import { groq } from "./dialects/groq.ts";
import { lenient } from "./dialects/lenient.ts";
import { llamaCpp } from "./dialects/llama-cpp.ts";
import { mistral } from "./dialects/mistral.ts";
import { ollama } from "./dialects/ollama.ts";
import { openaiChat } from "./dialects/openai-chat.ts";
import { openaiResponses } from "./dialects/openai-responses.ts";
import { openrouter, openrouterTo } from "./dialects/openrouter.ts";
import { vllm } from "./dialects/vllm.ts";

export type { Dialect } from "./dialects/dialect.ts";

/** The dialect of a model, wherever it is served. The first that fits counts. */
const models: readonly (readonly [RegExp, Dialect])[] = [
  [/claude/, anthropic],
  [/gemini-[12]/, gemini2],
  [/gemini/, gemini],
  [/mi[sx]tral|codestral|devstral|magistral|pixtral/, mistral],
  [/kimi|deepseek-(vl|ocr)/, vllm],
  [/deepseek/, deepseek],
  [/(^|\/)(gpt-(?!oss)|chatgpt|o\d)/, openaiChat],
];

const throughRouter = models.map(([pattern, provider]) => [pattern, openrouterTo(provider)] as const);

const all = [
  common,
  openaiChat,
  openaiResponses,
  anthropic,
  gemini,
  gemini2,
  mistral,
  deepseek,
  groq,
  llamaCpp,
  ollama,
  vllm,
  openrouter,
  ...throughRouter.map(([, routed]) => routed),
  lenient,
] as const;

/** The dialects that Colloquy has, by name. */
export const dialects: { readonly [name: string]: Dialect } = Object.freeze(
  Object.fromEntries(all.map((each) => [each.name, each])),
);

/** The dialect of a host. */
const hosts: readonly (readonly [RegExp, Dialect])[] = [
  [/(^|\.)openai\.com$|(^|\.)azure\.com$/, openaiChat],
  [/(^|\.)anthropic\.com$/, anthropic],
  [/(^|\.)googleapis\.com$/, gemini],
  [/(^|\.)mistral\.ai$/, mistral],
  [/(^|\.)deepseek\.com$/, deepseek],
  [/(^|\.)groq\.com$/, groq],
  [/(^|\.)ollama\.com$|:11434$/, ollama],
  [/(^|\.)openrouter\.ai$|^ai-gateway\.vercel\.sh$|^router\.huggingface\.co$/, openrouter],
];

/** The dialects of hosts that are different for some of their models. */
const byModel = new Map([
  [openrouter, throughRouter],
  [gemini, [[/gemini-[12]/, gemini2]] as const],
]);

/** What a handler speaks: chat completions, the Responses API, text, or the AI SDK. */
export type Api = "chat" | "responses" | "text" | "ai-sdk";

/** Returns the dialect of a server, by its base URL and the model that is called there. */
export const dialectFor = (baseURL: string, model: string, api: Api = "chat"): Dialect => {
  if (api === "responses") return openaiResponses;
  if (api === "text") return lenient;
  const host = hostOf(baseURL);
  const name = model.toLowerCase();
  const served = hosts.find(([pattern]) => pattern.test(host))?.[1];
  const choices = served === undefined ? models : (byModel.get(served) ?? []);
  const family = choices.find(([pattern]) => pattern.test(name))?.[1] ?? served;
  // The providers of the AI SDK write images and reasoning as their servers take them.
  if (api === "ai-sdk") return { ...(family ?? common), ...ofProviders };
  return family ?? common;
};

const ofProviders = {
  name: "ai-sdk",
  texts: "listed",
  images: "everywhere",
  developers: "own role",
  blank: "left out",
  refusals: "field",
  fields: "all",
  owedReasoning: null,
  owedOfCall: null,
} as const;

/** Returns the host of a base URL with its port, in lower case; the text itself if it is not a URL. */
export const hostOf = (baseURL: string): string => {
  try {
    return new URL(baseURL).host;
  } catch {
    return baseURL.toLowerCase();
  }
};

/** Returns what is wrong with the option `dialect`, or null. */
export const problemOfDialect = (given: unknown): string | null => {
  if (typeof given === "string")
    return Object.hasOwn(dialects, given)
      ? null
      : `must be one of ${Object.keys(dialects).join(", ")} (got ${JSON.stringify(given)})`;
  if (!isObject(given)) return `must be the name of a dialect, or a dialect (got a value of type ${typeof given})`;
  const missing = Object.keys(common).find((member) => given[member] === undefined);
  if (missing !== undefined)
    return `has no "${missing}"; begin with one that exists: { ...dialects.common, name: "ours" }`;
  const other = Object.keys(given).find((member) => !Object.hasOwn(common, member));
  if (other !== undefined) return `has a "${other}", which no dialect has; leave it out`;
  return patterns.map((member) => problemOfPattern(member, given[member])).find((problem) => problem !== null) ?? null;
};

const patterns = ["callIds", "toolNames", "messageNames"] as const;

const problemOfPattern = (member: string, pattern: unknown): string | null => {
  if (pattern === null && member === "messageNames") return null;
  try {
    if (typeof pattern === "string" && new RegExp(pattern, "u") instanceof RegExp) return null;
  } catch {
    // Said below.
  }
  return `has a "${member}" that is not a regular expression (got ${JSON.stringify(pattern)})`;
};
