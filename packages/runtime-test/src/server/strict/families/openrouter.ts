import { type Fields, textOf } from "../rules/json.ts";
import { type Family, messagesOf } from "../rules/rule.ts";
import { anthropic } from "./anthropic.ts";
import { deepseek } from "./deepseek.ts";
import { gemini } from "./gemini.ts";
import { kimi } from "./kimi.ts";
import { vllm } from "./local.ts";
import { mistral } from "./mistral.ts";
import { openaiChat } from "./openai-chat.ts";

/** Whose rules hold behind it, by the author that a model's name begins with. */
const providers: { readonly [author: string]: Family } = {
  anthropic,
  deepseek,
  google: gemini,
  mistralai: mistral,
  moonshotai: kimi,
  openai: openaiChat,
};

/** The router takes out members that a provider does not know. */
const membersOfMessages = "members of messages";

/** Only OpenAI's models know developers. */
const asSystem = (message: Fields): Fields =>
  message["role"] === "developer" ? { ...message, role: "system" } : message;

/** A router: its own errors around the rules of the provider that answers. */
export const openrouter: Family = {
  rules: (request) => {
    const author = textOf(request["model"]).split("/")[0] ?? "";
    const provider = Object.hasOwn(providers, author) ? providers[author] : undefined;
    const translated = { ...request, messages: messagesOf(request).map(asSystem) };
    return (provider ?? vllm)
      .rules(request)
      .filter(({ name }) => name !== membersOfMessages)
      .map((rule) => ({ ...rule, refuse: () => rule.refuse(translated) }));
  },
  // https://openrouter.ai/docs/api-reference/errors
  bodyOf: ({ message, status = 400 }) => ({
    error: { message: "Provider returned error", code: status, metadata: { raw: message } },
  }),
};
