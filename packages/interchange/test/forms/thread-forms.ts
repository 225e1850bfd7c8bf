import type { ContentPart, Message, ToolOutcome, ReplyDraft } from "@colloquy/machine";
import { messageFromDraft, messageFromReply, messageFromResult } from "@colloquy/machine";

// The forms of a thread's messages, native or imported.

const user = (content: string | readonly ContentPart[], more: object = {}): Message =>
  messageFromDraft("1.0", { role: "user", content, ...more });
const reply = (draft: ReplyDraft, more: Partial<Message> = {}): readonly Message[] => [
  user("Go on."),
  { ...messageFromReply("1.1", "1.1", draft), ...more },
];
const round = (
  content: string | readonly ContentPart[],
  outcome: ToolOutcome = "completed",
  provider?: NonNullable<ReplyDraft["toolCalls"]>[number]["provider"],
): readonly Message[] => [
  ...reply({
    toolCalls: [{ id: "a", name: "f", arguments: '{"n":1}', ...(provider === undefined ? {} : { provider }) }],
  }),
  messageFromResult({ callId: "1.1.0", providerCallId: "a", name: "f" }, outcome, content),
];
/** Returns a reply with calls of these ids, and a result for each. */
const rounds = (...ids: readonly (string | null)[]): readonly Message[] => [
  ...reply({ toolCalls: ids.map((id, index) => ({ id, name: "f", arguments: String(index) })) }),
  ...ids.map((id, index) =>
    messageFromResult({ callId: `1.1.${index}`, providerCallId: id, name: "f" }, "completed", String(index)),
  ),
];
const opaque = (value: { readonly [name: string]: string | object }): readonly Message[] => [
  // It is JSON, but the type of a test's object is wider.
  user([{ type: "opaque", value: JSON.parse(JSON.stringify(value)) }]),
];
const image = (url: string, more: object = {}): readonly Message[] => [user([{ type: "image", url, ...more }])];

export const threadForms: Readonly<Record<string, readonly Message[]>> = {
  nothing: [],
  "a text": [user("Hi.")],
  "an empty text": [user("")],
  "a name and metadata": [user("Hi.", { name: "ada", metadata: { a: 1 } })],
  "fields of a provider": [user("Hi.", { provider: { cache_control: { type: "ephemeral" } } })],
  "a text with options of the AI SDK": [
    user([{ type: "text", text: "Hi.", provider: { ai: { openai: { x: 1 } }, b: 2 } }]),
  ],
  "a text with no options of the AI SDK": [user([{ type: "text", text: "Hi.", provider: { ai: {} } }])],
  "a text with options that are none": [user([{ type: "text", text: "Hi.", provider: { ai: { openai: 1 } } }])],
  "a text with options of our own name": [user([{ type: "text", text: "Hi.", provider: { ai: { colloquy: {} } } }])],
  "a data field": [user([{ type: "data", field: "city", value: { name: "Oslo" } }])],
  "an image": image("https://example.org/a.png"),
  "an image that is low": image("https://example.org/a.png", { detail: "low" }),
  "an image of bytes": image("data:image/png;base64,AQI="),
  "an image of bytes that are no image": image("data:text/html;base64,AQI="),
  "an image of text": image("data:image/svg+xml,<svg/>"),
  "an image without a URL": image("a.png"),
  "a file": opaque({ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } }),
  "a file by id": opaque({ type: "file", file: { file_id: "file-1" } }),
  "a file by id with a name": opaque({ type: "file", file: { file_id: "file-1", filename: "a" } }),
  "a file with both": opaque({
    type: "file",
    file: { file_id: "file-1", file_data: "data:application/pdf;base64,AA==" },
  }),
  "a file that is an image": opaque({ type: "file", file: { file_data: "data:image/png;base64,AQI=" } }),
  "a file of no bytes": opaque({ type: "file", file: { file_data: "https://example.org/a" } }),
  "a file with a field": opaque({ type: "file", file: { file_id: "file-1", size: "1" } }),
  "a file with a field beside it": opaque({ type: "file", file: { file_id: "file-1" }, size: "1" }),
  "sound as wav": opaque({ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }),
  "sound as mp3": opaque({ type: "input_audio", input_audio: { data: "AA==", format: "mp3" } }),
  "sound in another form": opaque({ type: "input_audio", input_audio: { data: "AA==", format: "ogg" } }),
  "sound with a field": opaque({ type: "input_audio", input_audio: { data: "AA==", format: "wav", rate: "8" } }),
  "sound that is none": opaque({ type: "input_audio", input_audio: "AA==" }),
  "what only looks like sound": opaque({ type: "noise", input_audio: { data: "AA==", format: "wav" } }),
  "what nobody knows": opaque({ any: "thing" }),
  "a part of another format": opaque({ type: "foreign", format: "ui", value: { type: "data-x", data: "1" } }),
  "parts that only look as if they were of another format": [
    user([
      { type: "opaque", value: { type: "other", format: "ui", value: { type: "data-x" } } },
      { type: "opaque", value: { type: "foreign", format: 7, value: { type: "data-x" } } },
      { type: "opaque", value: { type: "foreign", format: "ui", value: "data-x" } },
    ]),
  ],
  "two parts": [
    user([
      { type: "text", text: "Look." },
      { type: "image", url: "https://example.org/a.png" },
    ]),
  ],
  "a reply": reply({ content: "Hello." }),
  "an empty reply": reply({}),
  "a reply that ended early": reply({ content: "Hel" }, { incomplete: true }),
  reasoning: reply({
    content: [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Hello." },
    ],
  }),
  "reasoning as a server gave it": reply({
    content: [{ type: "reasoning", text: "hm", provider: { fields: ["reasoning_content"] } }],
    toolCalls: [{ id: "a", name: "f", arguments: "{}" }],
  }),
  "a refusal": reply({ content: [{ type: "refusal", text: "No." }] }),
  "a text and a refusal": reply({
    content: [
      { type: "text", text: "Well." },
      { type: "refusal", text: "No." },
    ],
  }),
  "a call that waits": reply({ toolCalls: [{ id: "a", name: "f", arguments: "{}" }] }),
  "a round": round("4"),
  "a round, and a call that waits": [
    ...round("4"),
    messageFromReply("1.2", "1.2", { toolCalls: [{ id: "b", name: "f", arguments: "{}" }] }),
  ],
  "a round with fields of a provider": round("4", "completed", { extra_content: { a: 1 } }),
  "a round of a custom call": round("4", "completed", { type: "custom" }),
  "a result that is empty": round(""),
  "a result that failed": round("no", "failed"),
  "a result that was refused": round("later", "refused"),
  "a result of an unknown outcome": round("who knows", "unknown"),
  "a result that failed in parts": round(
    [
      { type: "text", text: "a" },
      { type: "data", field: "n", value: 1 },
    ],
    "failed",
  ),
  "a result as JSON": round([{ type: "text", text: '{"n":1}', provider: { output: "json" } }]),
  "a result as JSON, written loosely": round([{ type: "text", text: '{ "n": 1 }', provider: { output: "json" } }]),
  "a result that says it is an error": round([{ type: "text", text: "no", provider: { output: "error-text" } }]),
  "a result of a type that there is not": round([{ type: "text", text: "no", provider: { output: "film" } }]),
  "a result with more than its type": round([{ type: "text", text: "no", provider: { output: "json", a: 1 } }]),
  "a result with an image": round([{ type: "image", url: "https://example.org/a.png" }]),
  "a result with data and a file": round([
    { type: "data", field: "n", value: 1 },
    { type: "opaque", value: { type: "file", file: { file_id: "file-1", filename: "a" } } },
  ]),
  "instructions in the middle": [user("Hi."), messageFromDraft("1.1", { role: "system", content: "Be brief." })],
  "instructions for developers": [messageFromDraft("s1", { role: "developer", content: "Be brief." }), user("Hi.")],
  "instructions with an image": [
    messageFromDraft("s1", { role: "system", content: [{ type: "image", url: "https://example.org/a.png" }] }),
    user("Hi."),
  ],
  "calls of one id": rounds("a", "a", "b"),
  "calls without ids": rounds(null, null),
  "a call without an id beside those whose ids would be its own": rounds("call_1_1_2", "call_1_1_2_", null),
  "rounds that use an id again": [
    ...rounds("a"),
    messageFromReply("1.2", "1.2", { toolCalls: [{ id: "a", name: "g", arguments: "{}" }] }),
    messageFromResult({ callId: "1.2.0", providerCallId: "a", name: "g" }, "completed", "5"),
  ],
  "messages that the machine marked as synthesised or truncated": [
    { ...user("Hi."), synthesised: true },
    { ...messageFromReply("1.1", "1.1", { content: "Hello." }), truncated: { characters: 9 } },
  ],
  "provider fields with their origin": reply({
    content: "Hello.",
    provider: { origin: "x", cache_control: { type: "ephemeral" } },
  }),
  "an origin without other provider fields": reply({ content: "Hello.", provider: { origin: "x" } }),
  "a reply of several parts": reply({
    content: [
      { type: "text", text: "a" },
      { type: "text", text: "" },
      { type: "refusal", text: "b" },
      { type: "text", text: "c" },
    ],
    toolCalls: [{ id: "a", name: "f", arguments: "{}" }],
  }),
  "replies one after the other": [
    ...reply({ content: "a" }),
    messageFromReply("1.2", "1.2", { content: "b", name: "bot" }),
    messageFromReply("1.3", "1.3", { toolCalls: [{ id: "a", name: "f", arguments: "{}" }] }),
    messageFromResult({ callId: "1.3.0", providerCallId: "a", name: "f" }, "completed", "4"),
    messageFromReply("1.4", "1.4", { content: [] }),
    messageFromReply("1.5", "1.5", { content: "c" }),
  ],
  "replies one after the other, with thoughts": [
    ...reply({
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "a" },
      ],
    }),
    messageFromReply("1.2", "1.2", {
      content: [{ type: "reasoning", text: "so" }],
      toolCalls: [{ id: "a", name: "f", arguments: "{}" }],
    }),
    messageFromResult({ callId: "1.2.0", providerCallId: "a", name: "f" }, "completed", "4"),
  ],
};
