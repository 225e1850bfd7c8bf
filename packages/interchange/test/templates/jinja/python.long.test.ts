import { type JsonObject, type Message, messageFromReply, messageFromResult } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import { chatMessage, chatTool } from "../../../src/templates/jinja/jinja-template.ts";
import { jinjaTemplate } from "../../../src/templates/jinja/index.ts";
import { conversation } from "../conversations.ts";
import { modelTemplates } from "./model-templates.ts";
import { python, type PythonTask } from "./python.ts";

const at = Date.UTC(2026, 10, 5, 9, 7);
const look = {
  name: "look",
  description: "Looks — in <a>",
  parameters: { type: "object", properties: { at: { type: "string" } } },
};
const call = messageFromReply("2.1", "2.1", {
  content: [{ type: "reasoning", text: "Hm." }],
  toolCalls: [{ id: "call00001", name: "look", arguments: '{"at":"“shelf” <7>","n":1.5}' }],
});
const result = messageFromResult(
  { callId: "2.1.0", providerCallId: "call00001", name: "look" },
  "completed",
  '{"emma":true}',
);

const conversations: readonly { readonly messages: readonly Message[]; readonly tools?: readonly (typeof look)[] }[] = [
  { messages: conversation(null, "Hello !") },
  { messages: conversation("Be gentle.", "Hello !", "Hi!", "Fine.") },
  { messages: conversation("Be {{ gentle }}.", "<|im_end|> {% raw %} </s>\n", ' naïve "text" 😀 ', "[/INST] ''") },
  { messages: [...conversation("Be gentle.", "Hello !", "Hi!", "Where is it?"), call, result], tools: [look] },
];

const right = <Value>(value: Either.Either<string, Value>): Value => {
  if (Either.isLeft(value)) throw new Error(value.left);
  return value.right;
};

const variablesOf = ({ messages, tools }: (typeof conversations)[number]): PythonTask["variables"] => ({
  messages: messages.map((message): JsonObject => right(chatMessage(message))),
  tools: tools?.map(chatTool) ?? null,
  documents: null,
  add_generation_prompt: true,
  bos_token: "<s>",
  eos_token: "</s>",
  at,
});

const reason = typeof python === "string" ? ` (not run: there is no jinja2: ${python})` : "";

test.skipIf(reason !== "")(`the templates of models give what Python's jinja2 gives${reason}`, () => {
  if (typeof python === "string") return;
  const tasks = modelTemplates.map((template) =>
    conversations.map((each) => ({ template, variables: variablesOf(each) })),
  );
  const theirs = python(tasks.flat());
  const found: Record<string, number> = {};
  modelTemplates.forEach((text, index) => {
    const template = jinjaTemplate(text, { bosToken: "<s>", eosToken: "</s>" });
    conversations.forEach(({ messages, tools = [] }, which) => {
      const their = theirs[index * conversations.length + which];
      const kind = kindOf(
        template.render(messages, { tools, at }),
        their !== undefined && "text" in their ? their.text : null,
      );
      found[kind] = (found[kind] ?? 0) + 1;
    });
  });
  expect(modelTemplates.length).toBe(86);
  expect(found).toEqual({
    same: 261,
    "refused by both": 33,
    "tools refused, which Python drops": 43,
    // Our interpreter strips all white space for `lstrip('\n')`, which should strip line ends.
    other: 2,
    "not rendered: Expected iterable or object type in for loop: got StringValue": 4,
    "not rendered: Unknown ArrayValue filter: reject": 1,
  });
});

/** Compares a rendering with Python's, which is null if Python refused. */
const kindOf = (ours: Either.Either<string, string>, theirs: string | null): string => {
  if (Either.isLeft(ours)) {
    if (theirs === null) return "refused by both";
    return ours.left.includes("renders no tools")
      ? "tools refused, which Python drops"
      : `not rendered: ${ours.left.replace(/^.*?conversation: /u, "")}`;
  }
  return ours.right === theirs ? "same" : "other";
};
