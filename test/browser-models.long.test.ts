import type * as Handlers from "@colloquy/runtime-node/openai";
import { modelContract } from "@colloquy/runtime-test/contracts";
import { promptFormat } from "@colloquy/interchange/templates";

import { codeFor, namesOfNode } from "./browser-bundle.ts";

const code = await codeFor("runtime-node/src/llm/index.ts");

/** Returns the exports of `@colloquy/runtime-node/openai` on the web's platform, without anything of Node. */
const handlers = (): typeof Handlers => {
  const web = new Proxy(globalThis, {
    has: (platform, name) => !isOfNode(name) && name in platform,
    get: (platform, name): unknown => (isOfNode(name) ? undefined : Reflect.get(platform, name)),
  });
  const names = ["globalThis", ...namesOfNode];
  // oxlint-disable-next-line no-implied-eval -- runs the bundle from above without the globals of Node
  const evaluate = new Function(...names, `${code}; return bundle;`) as (platform: object) => typeof Handlers;
  return evaluate(web);
};

const isOfNode = (name: string | symbol): boolean => typeof name === "string" && namesOfNode.includes(name);

const { openaiChat, openaiResponses, textCompletion } = handlers();

modelContract(
  "openaiChat, without Node",
  ({ url, apiKey, stream }) => openaiChat({ baseURL: url, apiKey, stream, model: "any" }),
  { dialect: "chat" },
);

modelContract(
  "openaiResponses, without Node",
  ({ url, apiKey, stream }) => openaiResponses({ baseURL: url, apiKey, stream, model: "any" }),
  { dialect: "responses" },
);

const template = promptFormat({
  system_prompt: { pre: "", suf: "\n\n" },
  prompt: { pre: "", suf: "" },
  user: { role: "User", role_sep: ":", pre: "", suf: "\n" },
  agent: { role: "Assistant", role_sep: ":", pre: "", suf: "\n" },
});

modelContract(
  "textCompletion, without Node",
  ({ url, apiKey, stream }) => textCompletion({ baseURL: url, apiKey, stream, model: "any", template }),
  { dialect: "completions", without: ["tools", "refusals", "reasoning"] },
);
