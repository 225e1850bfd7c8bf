import { conversationMachine, messagesOf, start, transition } from "@colloquy/machine";
import {
  fromChatMessages,
  fromModelMessages,
  fromResponseItems,
  fromUiMessages,
  toChatMessages,
  toModelMessages,
  toResponseItems,
  toUiMessages,
} from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";

const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" }, cache: { a: [1] } };
const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" }, extra: { signature: ["s"] } };

const formats: readonly (readonly [
  string,
  (given: unknown) => ReturnType<typeof fromChatMessages>,
  (messages: ReturnType<typeof messagesOf>) => unknown,
  () => readonly object[],
])[] = [
  [
    "chat messages",
    fromChatMessages,
    toChatMessages,
    () => [
      { role: "user", content: [{ type: "text", text: "See.", cache_control: { type: "ephemeral" } }, image] },
      { role: "assistant", content: null, tool_calls: [call], provider_fields: { thinking: [{ text: "Hm." }] } },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "Found." }] },
      { role: "assistant", content: "So." },
    ],
  ],
  [
    "Responses items",
    fromResponseItems,
    toResponseItems,
    () => [
      { type: "message", role: "user", content: [{ type: "input_text", text: "See." }] },
      { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "e" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "Found." },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "So.", annotations: [{ a: [1] }] }],
      },
    ],
  ],
  [
    "model messages",
    fromModelMessages,
    toModelMessages,
    () => [
      { role: "user", content: [{ type: "text", text: "See.", providerOptions: { p: { cache: [1] } } }] },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "c", toolName: "f", input: { a: [1] }, providerOptions: { p: { s: [1] } } },
        ],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "c", toolName: "f", output: { type: "json", value: { b: [2] } } }],
      },
      { role: "assistant", content: [{ type: "text", text: "So." }] },
    ],
  ],
  [
    "UI messages",
    fromUiMessages,
    toUiMessages,
    () => [
      { id: "1", role: "user", parts: [{ type: "text", text: "See." }], metadata: { m: [1] } },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "tool-f", toolCallId: "c", state: "output-available", input: { a: [1] }, output: { b: [2] } },
          { type: "text", text: "So.", providerMetadata: { p: { s: [1] } } },
        ],
      },
    ],
  ],
];

/** Empties all lists and overwrites all members, at every depth; frozen ones throw, and stay. */
const overwrite = (value: unknown): void => {
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) overwrite(member);
  for (const name of Object.keys(value)) {
    try {
      Object.assign(value, { [name]: "overwritten" });
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(TypeError);
    }
  }
};

describe.each(formats)("%s", (_, read, write, sample) => {
  test("that were read share nothing with what is read, nor a thread with what is written", () => {
    const given = sample();
    const imported = read(given);
    if (Either.isLeft(imported)) throw new Error(imported.left.reason);
    const before = JSON.stringify(imported.right);
    overwrite(given);
    expect(JSON.stringify(imported.right)).toBe(before);
    const machine = conversationMachine();
    let { state } = start(machine, { threadId: "t", at: 0 });
    for (const messages of imported.right.turns) {
      const step = transition(machine, state, { type: "turn.added", at: 1, messages });
      if (!step.handled) throw new Error(step.refusal.reason);
      ({ state } = step);
    }
    overwrite(imported.right);
    const said = messagesOf(state);
    const exported = JSON.stringify(write(said));
    overwrite(write(said));
    expect(JSON.stringify(write(said))).toBe(exported);
    expect(exported).toContain("See.");
  });
});
