import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { fromChatMessages, toChatMessages } from "../../src/chat/messages.ts";
import { fromModelMessages, toModelMessages } from "../../src/ai-sdk/model-messages.ts";
import { fromResponseItems, toResponseItems } from "../../src/responses/items.ts";
import { fromLangChainMessages, toLangChainMessages } from "../../src/langchain/messages.ts";
import { fromUiMessages, toUiMessages } from "../../src/ai-sdk/ui-messages.ts";
import type { Loss } from "../../src/exchange/reading.ts";
import type { Message } from "@colloquy/machine";
import { type Format, threadOf } from "../laws.ts";
import { chatForms } from "./chat-forms.ts";
import { langchainForms } from "./langchain-forms.ts";
import { modelForms } from "./model-forms.ts";
import { responsesForms } from "./responses-forms.ts";
import { threadForms } from "./thread-forms.ts";
import { uiForms } from "./ui-forms.ts";

// Records how each form of each format is imported and exported, in one file each. Users notice a change there, so read
// it before you accept it (`pnpm test -u`).

const formats: Readonly<Record<string, Format & { readonly forms: Readonly<Record<string, unknown>> }>> = {
  chat: { read: fromChatMessages, write: toChatMessages, forms: chatForms },
  responses: { read: fromResponseItems, write: toResponseItems, forms: responsesForms },
  model: { read: fromModelMessages, write: toModelMessages, forms: modelForms },
  langchain: { read: fromLangChainMessages, write: toLangChainMessages, forms: langchainForms },
  ui: { read: fromUiMessages, write: toUiMessages, forms: uiForms },
};

describe.each(Object.entries(formats))("forms of %s", (name, format) => {
  test("come in as they are written down, and go out again", async () => {
    const table = Object.entries(format.forms).map(([form, items]) =>
      [form, ...linesOfForm(format, items), ""].join("\n"),
    );
    await expect(table.join("\n")).toMatchFileSnapshot(`${name}.txt`);
  });

  test("are what a thread goes out as", async () => {
    const table = Object.entries(threadForms).map(([form, messages]) =>
      [form, ...linesOfWriting(format, messages, undefined), ""].join("\n"),
    );
    await expect(table.join("\n")).toMatchFileSnapshot(`thread-to-${name}.txt`);
  });
});

const linesOfForm = (format: Format, items: unknown): readonly string[] => {
  const read = format.read(items);
  if (Either.isRight(read)) {
    const { system, turns, losses } = read.right;
    return [
      `  in    ${JSON.stringify(items)}`,
      ...(system === null ? [] : [`  sys   ${JSON.stringify(system)}`]),
      ...turns.map((turn) => `  turn  ${JSON.stringify(turn)}`),
      ...losses.map(lineOfLoss),
      ...linesOfWriting(format, threadOf(read.right), items),
    ];
  }
  const repaired = format.read(items, { repair: true });
  return [
    `  in    ${JSON.stringify(items)}`,
    `  no    ${read.left.reason}`,
    ...(Either.isLeft(repaired)
      ? []
      : [
          ...repaired.right.turns.map((turn) => `  mend  ${JSON.stringify(turn)}`),
          ...repaired.right.losses.map(lineOfLoss),
        ]),
  ];
};

const linesOfWriting = (format: Format, messages: readonly Message[], before: unknown): readonly string[] => {
  const { value, losses } = format.write(messages);
  const out = JSON.stringify(value);
  return [out === JSON.stringify(before) ? "  out   the same" : `  out   ${out}`, ...losses.map(lineOfLoss)];
};

const lineOfLoss = ({ index, messageId, path, what, why }: Loss): string =>
  `  lost  ${index}${messageId === undefined ? "" : ` (${messageId})`}${path === "" ? "" : ` ${path}`}: ${what}: ${why}`;
