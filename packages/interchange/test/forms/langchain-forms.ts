// LangChain messages in the forms that its versions and integrations store.

const human = (more: object = {}) => ({ type: "human", data: { content: "Hi.", ...more } });
const said = (more: object = {}) => [human(), { type: "ai", data: { content: "Hello.", ...more } }];
const blocks = (...content: readonly unknown[]) => [human({ content })];
const saying = (...content: readonly unknown[]) => said({ content });
const text = (more: object = {}) => ({ type: "text", text: "Hi.", ...more });
const call = (more: object = {}) => ({ type: "tool_call", id: "a", name: "f", args: { n: 1 }, ...more });
const called = (more: object = {}, result: object = {}) => [
  ...said({ content: "", tool_calls: [call()], ...more }),
  { type: "tool", data: { content: "4", name: "f", tool_call_id: "a", status: "success", ...result } },
];
const own = (colloquy: unknown) => ({ additional_kwargs: { colloquy } });
const url = "https://example.org/a";

export const langchainForms: Readonly<Record<string, unknown>> = {
  "a user": [human()],
  "a user with a name": [human({ name: "ada" })],
  "a user with an empty name": [human({ name: "" })],
  "a user with all that LangChain writes": [
    human({ id: "h", name: null, additional_kwargs: {}, response_metadata: {}, example: false, extra: "x" }),
  ],
  "a user with fields of an integration": [human({ additional_kwargs: { a: 1, b: null }, usage_metadata: { n: 1 } })],
  "no content": [human({ content: null }), human({ content: [] }), human({ content: "" })],
  "no content at all": [{ type: "human", data: {} }],
  "types under other names": [
    { type: "system", data: { content: "Be brief." } },
    { type: "user", data: { content: "Hi." } },
    { type: "assistant", data: { content: "Hello." } },
  ],
  "instructions for developers": [
    { type: "system", data: { content: "Be brief.", additional_kwargs: { __openai_role__: "developer" } } },
    human(),
  ],
  "instructions marked as something else": [
    { type: "system", data: { content: "Be brief.", additional_kwargs: { __openai_role__: "critic" } } },
    human({ additional_kwargs: { __openai_role__: "developer" } }),
  ],
  "instructions with an image": [
    { type: "system", data: { content: [{ type: "image_url", image_url: url }] } },
    human(),
  ],
  "generic messages": [
    { type: "generic", data: { content: "Be brief.", role: "developer" } },
    { type: "chat", data: { content: "Hi.", role: "human" } },
    { type: "chat", data: { content: "Hello.", role: "assistant" } },
  ],
  "a generic message of an unknown role": [{ type: "chat", data: { content: "Hi.", role: "critic" } }],
  "a generic message without a role": [{ type: "generic", data: { content: "Hi." } }],
  "a role on a message that has a type": [human({ role: "system" })],
  "an unknown type": [{ type: "critic", data: { content: "Bad." } }],

  "a text in a list": blocks("Hi."),
  "texts in a list": blocks("Hi.", text()),
  "a text with fields": blocks(text({ cache_control: { type: "ephemeral" }, index: 0 })),
  "a text with empty fields": blocks(text({ annotations: [], id: null })),
  "a text part without a text": blocks({ type: "text", text: 7 }),
  "an image by its address": blocks({ type: "image_url", image_url: url }),
  "an image in OpenAI's form": blocks({ type: "image_url", image_url: { url, detail: "low" } }),
  "an image of a newer form": blocks({ type: "image", url }),
  "an image of bytes": blocks({ type: "image", data: "AQI=", mimeType: "image/png" }),
  "an image of bytes in Python's form": blocks({
    type: "image",
    source_type: "base64",
    data: "AQI=",
    mime_type: "image/png",
  }),
  "an image of bytes without a type": blocks({ type: "image", data: "AQI=" }),
  "an image that has only a type": blocks({ type: "image", mime_type: "image/png" }),
  "an image with a field": blocks({ type: "image", url, id: "x" }),
  "an image with an empty field": blocks({ type: "image", url, metadata: {}, id: null }),
  "an image part without an image": blocks({ type: "image_url", image_url: 7 }, { type: "picture", url }),
  "sound and a file of chat servers": blocks(
    { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
    { type: "file", file: { file_id: "file-1" } },
  ),
  "a file of LangChain": blocks({ type: "file", data: "AA==", mime_type: "application/pdf" }),
  "a content block of an integration": blocks({ type: "document", source: { data: "x" } }),
  "reasoning and a refusal of a user": blocks(
    { type: "reasoning", reasoning: "hm" },
    { type: "refusal", refusal: "No." },
  ),

  "a reply": said(),
  "a reply with a name": said({ name: "bot", id: "run-1" }),
  "an empty reply": said({ content: "" }),
  "a reply with its usage": said({ response_metadata: { model_name: "m" }, usage_metadata: { input_tokens: 1 } }),
  reasoning: saying({ type: "reasoning", reasoning: "hm" }, text()),
  "reasoning of Anthropic's": saying({ type: "thinking", thinking: "hm", signature: "s" }, text()),
  "reasoning without a text": saying({ type: "reasoning", reasoning: 7 }, { type: "thinking", thinking: 7 }),
  "reasoning in a block of another type": saying({ type: "note", reasoning: "hm", thinking: "hm", refusal: "No." }),
  "reasoning beside the content": said({ additional_kwargs: { reasoning_content: "hm" } }),
  "reasoning without a text beside the content": said({ additional_kwargs: { reasoning_content: 7 } }),
  "a refusal": saying({ type: "refusal", refusal: "No." }),
  "a refusal with a field": saying({ type: "refusal", refusal: "No.", index: 0 }),
  "a refusal without a text": saying({ type: "refusal", refusal: 7 }),

  "a call": called(),
  "a call beside a text": called({ content: "One moment." }),
  "a call without arguments": called({ tool_calls: [call({ args: null })] }),
  "a call whose arguments are a list": called({ tool_calls: [call({ args: [1] })] }),
  "a call without an id": called({ tool_calls: [call({ id: null })] }),
  "a call whose arguments were no JSON": called({
    tool_calls: [],
    invalid_tool_calls: [{ type: "invalid_tool_call", id: "a", name: "f", args: "{no", error: "bad" }],
  }),
  "an invalid call without a name or arguments": called({ tool_calls: [], invalid_tool_calls: [{ id: "a" }] }),
  "calls as our export wrote them": called({
    ...own({ calls: [{ id: "a", name: "f", arguments: '{ "n": 1 }' }] }),
  }),
  "calls that changed since our export": called({
    ...own({ calls: [{ id: "b", name: "f", arguments: '{ "n": 1 }' }] }),
  }),
  "more calls than our export wrote": called({
    ...own({ calls: [] }),
  }),
  "calls of our export that are malformed": called(own({ calls: [{ id: "a" }] })),
  "fields of our export": [
    human(own({ metadata: { from: "phone" }, provider: { cache_control: { type: "ephemeral" } } })),
    ...said(own({ metadata: 7, provider: 7 })).slice(1),
  ],
  "fields of our export that are malformed": [human(own("x"))],

  "a result that failed": called({}, { status: "error" }),
  "a result that failed, as our export wrote it": called({}, { status: "error", ...own({ outcome: "refused" }) }),
  "a result without a status": called({}, { status: undefined }),
  "a result with an artifact": called({}, { artifact: { rows: 4 }, id: "r" }),
  "a result of blocks": called({}, { content: [text(), { type: "image", url }] }),
  "a result that is empty": called({}, { content: "" }),
  "a result without a call": [human(), { type: "tool", data: { content: "4" } }],
  "a result without an id": called({}, { tool_call_id: null }),

  "messages that JavaScript serialised": [
    {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "HumanMessage"],
      kwargs: { content: "Hi.", id: "h" },
    },
    { lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessageChunk"], kwargs: { content: "Hello." } },
  ],
  "a message of another version": [{ lc: 2, type: "constructor", id: ["HumanMessage"], kwargs: { content: "Hi." } }],
  "a message without a class": [{ lc: 1, type: "constructor", id: "HumanMessage", kwargs: { content: "Hi." } }],
  "a flat message": [{ type: "human", content: "Hi.", id: "h" }],
  "a flat message of a class": [{ type: "AIMessageChunk", content: "Hi." }],
  "a message without a type": [{ content: "Hi." }],
  "content that is a number": [human({ content: 7 })],
  "a message that is a text": ["Hi."],
  "a message instead of a list": human(),
};
