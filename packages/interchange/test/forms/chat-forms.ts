// The forms of chat completions, as servers and stores write them.

const user = (more: object = {}) => ({ role: "user", content: "Hi.", ...more });
const said = (more: object = {}) => [user(), { role: "assistant", content: "Hello.", ...more }];
const call = (more: object = {}) => ({
  id: "a",
  type: "function",
  function: { name: "f", arguments: '{"n":1}' },
  ...more,
});
const called = (more: object = {}, content: unknown = "4") => [
  user(),
  { role: "assistant", content: null, tool_calls: [call()], ...more },
  { role: "tool", tool_call_id: "a", content },
];
const parts = (...content: readonly unknown[]) => [{ role: "user", content }];
const text = (more: object = {}) => ({ type: "text", text: "Hi.", ...more });

export const chatForms: Readonly<Record<string, unknown>> = {
  "a user": [user()],
  "a user with a name": [user({ name: "ada" })],
  "a user with an empty name": [user({ name: "" })],
  "no content": [
    { role: "user", content: null },
    { role: "user", content: [] },
  ],
  "a user without content": [{ role: "user" }],
  "instructions, of both kinds": [
    { role: "developer", content: "Be brief." },
    { role: "system", content: "Be kind." },
    user(),
  ],
  "a cache mark": [user({ cache_control: { type: "ephemeral" } })],
  "a cache mark that is none": [user({ cache_control: "ephemeral" })],
  "a text in a list": parts("Hi."),
  "texts in a list": parts("Hi.", text()),
  "a text with a field": parts(text({ cache_control: { type: "ephemeral" } })),
  "a text that is none": parts({ type: "text", text: 7 }),
  "an image": parts({ type: "image_url", image_url: { url: "https://example.org/a" } }),
  "an image that is low": parts({ type: "image_url", image_url: { url: "https://example.org/a", detail: "low" } }),
  "an image with a field": parts({ type: "image_url", image_url: { url: "https://example.org/a", size: 1 } }),
  "an image with a field beside it": parts({ type: "image_url", image_url: { url: "https://example.org/a" }, size: 1 }),
  "an image with a detail that is none": parts({
    type: "image_url",
    image_url: { url: "https://example.org/a", detail: 1 },
  }),
  "an image that is none": parts(
    { type: "image_url", image_url: "https://example.org/a" },
    { type: "image_url", image_url: { url: 1 } },
  ),
  "a file and sound": parts(
    { type: "file", file: { file_id: "file-1" } },
    { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
  ),

  "two questions before each answer, and instructions for the second": [
    user(),
    user({ content: "There?" }),
    { role: "assistant", content: "Hello." },
    { role: "system", content: "Be kind." },
    user({ content: "How?" }),
    user({ content: "Why?" }),
    { role: "assistant", content: "So." },
    { role: "system", content: "Be brief." },
  ],

  "a reply": said(),
  "a reply with a name": said({ name: "bot" }),
  "an empty reply": said({ content: "" }),
  "a reply of no content": said({ content: null }),
  "a reply of parts": said({ content: [text(), text({ index: 1 })] }),
  "a reply that refuses": said({ content: null, refusal: "No." }),
  "a reply that says something and refuses": said({ refusal: "No." }),
  "an empty refusal": said({ refusal: "" }),
  "a refusal as a part": said({ content: [{ type: "refusal", refusal: "No." }] }),
  "a refusal as a part that is none": said({ content: [{ type: "refusal", refusal: 7 }] }),
  "thoughts as a part": said({ content: [{ type: "thinking", thinking: "hm" }, text()] }),
  "thoughts as parts of a part": said({
    content: [
      { type: "thinking", thinking: [{ type: "text", text: "h" }, { type: "text", text: "m" }, 7, { text: 7 }] },
    ],
  }),
  "thoughts that are none": said({ content: [{ type: "thinking", thinking: 7 }] }),
  "a prefix": said({ prefix: true }),
  "a prefix that is none": said({ prefix: false, partial: "yes" }),
  "a partial": said({ partial: true }),
  "a reply with a cache mark": said({ cache_control: { type: "ephemeral" }, extra_content: { a: 1 } }),
  "extra content that is none": said({ extra_content: 7, cache_control: 7 }),
  "sound of a model": said({
    content: null,
    audio: { id: "audio_1", transcript: "Hello.", data: "AA==", expires_at: 1 },
  }),
  "sound of a model without words": said({ content: null, audio: { id: "audio_1" } }),
  "sound of a model without an id": said({ audio: { id: "", transcript: "Hello." } }),
  "one reasoning detail": said({ reasoning_details: [{ type: "reasoning.text", text: "hm" }] }),
  "reasoning details of several kinds": said({
    reasoning_details: [{ type: "reasoning.summary", summary: "h" }, { text: "m" }, { data: "x" }, 7],
  }),
  "no reasoning details": said({ reasoning_details: [], thinking_blocks: [] }),
  "one block of thoughts": said({ thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }] }),
  "reasoning beside a reply": said({ reasoning_content: "hm" }),
  "an empty reasoning beside a reply": said({ reasoning_content: "" }),

  "a call": called(),
  "a call beside a text": called({ content: "One moment." }),
  "a call beside an empty text": called({ content: "" }),
  "a result of parts": called({}, [text(), { type: "image_url", image_url: { url: "https://example.org/a" } }]),
  "a result that is null": called({}, null),
  "a result that is empty": called({}, ""),
  "reasoning beside a call": called({ reasoning_content: "hm" }),
  "reasoning of two names": called({ reasoning_content: "hm", reasoning: "hm", thinking: "other" }),
  "an empty reasoning beside a call": called({ reasoning_content: "", reasoning: "" }),
  "reasoning and its details beside a call": called({
    reasoning: "hm",
    reasoning_details: [{ type: "reasoning.text", text: "hm" }],
  }),
  "a call of another type": [
    user(),
    { role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "f", input: "go" } }] },
    { role: "tool", tool_call_id: "a", content: "4" },
  ],
  "a call with an index and a signature": called({ tool_calls: [call({ index: 0, extra_content: { google: {} } })] }),
  "a call without an id": [
    user(),
    { role: "assistant", tool_calls: [call({ id: undefined })] },
    { role: "tool", content: "4" },
  ],
  "a call with arguments as an object": called({
    tool_calls: [call({ function: { name: "f", arguments: { n: 1 } } })],
  }),
  "a call without arguments": called({ tool_calls: [call({ function: { name: "f" } })] }),
  "a call without a function": called({ tool_calls: [{ id: "a" }] }),
  "no calls": said({ tool_calls: [] }),

  "a function that was called": [
    user(),
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "4" },
  ],
  "a function of another name that answers": [
    user(),
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "g", content: "4" },
  ],
  "a function that answers without a name": [
    user(),
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    { role: "function", content: "4" },
  ],
  "a function that nobody called": [user(), { role: "function", name: "f", content: "4" }],
  "a function that answers twice": [
    user(),
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "4" },
    { role: "function", name: "f", content: "5" },
  ],
  "a function call that is empty": said({ function_call: { name: "", arguments: "" } }),
  "a function call without a name": said({ function_call: { arguments: "{}" } }),
  "a function call that is none": said({ function_call: null }),
  "a function call beside calls": called({ function_call: { name: "g", arguments: "{}" } }),

  "a role that there is not": [{ role: "critic", content: "Bad." }],
  "no role": [{ content: "Hi." }],
  "content that is none": [{ role: "user", content: 7 }],
  "a message that is none": ["Hi."],
  "no list": { role: "user" },

  "a result without content": [...called().slice(0, 2), { role: "tool", tool_call_id: "a" }],
  "arguments that are no JSON": called({ tool_calls: [call({ function: { name: "f", arguments: "{no" } })] }),
  "arguments that are empty": called({ tool_calls: [call({ function: { name: "f", arguments: "" } })] }),
  "a call without a type": called({ tool_calls: [{ id: "a", name: "f", arguments: "{}" }] }),
  "a call of a kind to come": called({ tool_calls: [{ id: "a", type: "web_search", query: "weather" }] }),
  "fields that servers do not take back": said({ annotations: [1], logprobs: null, index: 0, channel: "final" }),
  "fields of a call, and of its result": [
    ...called({ tool_calls: [call({ function: { name: "f", arguments: "{}", strict: true }, note: "x" })] }).slice(
      0,
      2,
    ),
    { role: "tool", tool_call_id: "a", name: "g", content: "1", cache_control: { type: "ephemeral" } },
  ],
  "the name of a result whose call has none": [
    ...called({ tool_calls: [call({ function: { name: null, arguments: "{}" } })] }).slice(0, 2),
    { role: "tool", tool_call_id: "a", name: "f", content: "1" },
  ],
  "calls of a user": [user({ tool_calls: [call({ note: "x" })] })],
  "a function that nobody answered": [user(), { role: "assistant", function_call: { name: "f", arguments: "{}" } }],
  "a function that is called twice": [
    user(),
    { role: "assistant", function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "4" },
    { role: "assistant", function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "5" },
  ],
};
