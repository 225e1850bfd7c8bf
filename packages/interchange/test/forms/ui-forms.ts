// The forms of the AI SDK's user interface.

const user = (...parts: readonly object[]) => [{ id: "u1", role: "user", parts }];
const model = (...parts: readonly object[]) => [
  { id: "u1", role: "user", parts: [{ type: "text", text: "Go on." }] },
  { id: "m1", role: "assistant", parts },
];
const text = (more: object = {}) => ({ type: "text", text: "Hi.", ...more });
const tool = (more: object = {}) => ({ type: "tool-f", toolCallId: "a", input: { n: 1 }, ...more });
const done = (more: object = {}) => tool({ state: "output-available", output: "4", ...more });
const ours = (colloquy: object) => ({ providerMetadata: { colloquy } });
const resulting = (colloquy: object) => ({ resultProviderMetadata: { colloquy } });
const step = { type: "step-start" };
const openai = { openai: { x: 1 } };

export const uiForms: Readonly<Record<string, unknown>> = {
  "one text": user(text()),
  "an empty text": user(text({ text: "" })),
  "a text that stands for none": user(text({ text: "", ...ours({ empty: true }) })),
  "no parts": user(),
  "a text with metadata": user(text({ providerMetadata: openai })),
  "a text with citations": user(text({ citations: [{ url: "https://example.org" }] })),
  "a text that was being written": user(text({ state: "streaming" })),
  "a text that was written": user(text({ state: "done" })),
  "a data field": user(text(ours({ data: { field: "city", value: "Oslo" } })), text()),
  "a data field with citations": user(text({ citations: [1], ...ours({ data: { field: "city", value: "Oslo" } }) })),
  "instructions for developers": [
    { id: "s1", role: "system", parts: [text(ours({ message: { role: "developer" } }))] },
    { id: "u1", role: "user", parts: [text()] },
  ],
  "a user who claims to be a developer": user(text(ours({ message: { role: "developer" } }))),
  "a name and fields of a provider": user(text(ours({ message: { name: "ada", provider: { a: 1 } } }))),
  "a name that is none": user(text(ours({ message: { name: 7, provider: 7 } }))),
  "a message of ours that is none": user(text(ours({ message: 7 }))),
  "metadata that are no object": [{ id: "u1", role: "user", parts: [text()], metadata: "x" }],
  "metadata that are null": [{ id: "u1", role: "user", parts: [text()], metadata: null }],
  "an unknown field of a message": [{ id: "u1", role: "user", parts: [text()], mood: "good" }],
  "no id": [{ role: "user", parts: [text()] }],
  "ids that a thread made": [
    { id: "s12", role: "system", parts: [text()] },
    { id: "12.34", role: "user", parts: [text()] },
    { id: "12.34x", role: "assistant", parts: [text()] },
  ],
  "reasoning of a user": user({ type: "reasoning", text: "hm" }, text()),
  "a step of a user": user(step, text()),
  "a tool of a user": user(done()),
  "an image": user({ type: "file", mediaType: "image/png", url: "data:image/png;base64,AQI=" }),
  "an image with a name": user({ type: "file", mediaType: "image", url: "https://example.org/a", filename: "a.png" }),
  "a file by reference": user({
    type: "file",
    mediaType: "application/octet-stream",
    url: "",
    providerReference: { openai: "file-1" },
  }),
  "a file by reference and URL": user({
    type: "file",
    mediaType: "application/octet-stream",
    url: "https://example.org/a",
    providerReference: { openai: "file-1" },
  }),
  "a file with metadata": user({
    type: "file",
    mediaType: "application/pdf",
    url: "data:application/pdf;base64,AA==",
    providerMetadata: openai,
  }),

  "nothing that a model said": model(),
  "steps alone": model(step, step),
  "a text of a model": model(step, text()),
  "a text without a step": model(text()),
  "two steps of texts": model(step, text(), step, text()),
  "a refusal": model(text(ours({ refusal: true }))),
  "a text of a model with citations": model(text({ citations: [1], providerMetadata: openai })),
  reasoning: model(step, { type: "reasoning", text: "hm", id: "r1", providerMetadata: openai }, text()),
  "reasoning that was being written": model({ type: "reasoning", text: "hm", state: "streaming" }, text()),
  "an empty text beside another": model(text({ text: "", ...ours({ empty: true }) }), text()),
  "steering, with a file": model(
    step,
    text(),
    {
      type: "steering-message",
      id: "u2",
      parts: [
        text({ state: "streaming" }),
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AQI=" },
      ],
    },
    text(),
  ),
  "steering first": model({ type: "steering-message", id: "u2", parts: [text()] }),

  "a result": model(step, done()),
  "a result as JSON": model(step, done({ output: { n: 1 } })),
  "a result as a number": model(step, done({ output: 4 })),
  "no result to speak of": model(step, tool({ state: "output-available" })),
  "a result of parts of ours": model(
    step,
    done({ output: [{ type: "image", url: "https://example.org/a" }, text()], ...resulting({ content: true }) }),
  ),
  "a result of parts that are none": model(step, done({ output: [{ type: "film" }], ...resulting({ content: true }) })),
  "a result of parts with a field too many": model(
    step,
    done({ output: [text({ size: 1 })], ...resulting({ content: true }) }),
  ),
  "a result of data and attachments": model(
    step,
    done({
      output: [{ type: "data", field: "n", value: 1 }, { type: "opaque", value: {} }, text({ provider: {} })],
      ...resulting({ content: true }),
    }),
  ),
  "an error": model(step, tool({ state: "output-error", errorText: "no" })),
  "an error without words": model(step, tool({ state: "output-error" })),
  "an error of ours": model(
    step,
    tool({ state: "output-error", errorText: "no", ...resulting({ outcome: "interrupted" }) }),
  ),
  "an error of ours, of parts": model(
    step,
    tool({ state: "output-error", errorText: "no", ...resulting({ outcome: "failed", content: [text(), text()] }) }),
  ),
  "an error of an outcome that there is not": model(
    step,
    tool({ state: "output-error", errorText: "no", ...resulting({ outcome: "late" }) }),
  ),
  "a denial": model(step, tool({ state: "output-denied", approval: { id: "ap", approved: false, reason: "later" } })),
  "a denial without a reason": model(step, tool({ state: "output-denied", approval: { id: "ap", approved: false } })),
  "a denial that is not yet one": model(
    step,
    tool({ state: "approval-responded", approval: { id: "ap", approved: false, reason: "later" } }),
  ),
  "a denial without an approval": model(step, tool({ state: "output-denied" })),
  "an error after an approval": model(
    step,
    tool({ state: "output-error", errorText: "no", approval: { id: "ap", approved: true } }),
  ),
  "a result that is preliminary": model(step, done({ preliminary: true })),
  "a result that is final": model(step, done({ preliminary: false })),
  "metadata of a result": model(step, done({ resultProviderMetadata: openai })),
  "metadata of a call": model(step, done({ callProviderMetadata: openai })),
  "a title and metadata of a tool": model(step, done({ title: "Sum", toolMetadata: { a: 1 }, dynamic: true })),
  "a dynamic tool": model(step, { ...done(), type: "dynamic-tool", toolName: "g" }),
  "a call with an exact string": model(step, done({ callProviderMetadata: { colloquy: { arguments: "{ }" } } })),
  "a call with an id that is not shown": model(step, done({ callProviderMetadata: { colloquy: { id: "real" } } })),
  "a call without an id": model(step, done({ callProviderMetadata: { colloquy: { id: null } } })),
  "a call with raw input": model(step, done({ input: undefined, rawInput: "{oops" })),
  "a call with raw input that is JSON": model(step, done({ input: undefined, rawInput: { n: 2 } })),
  "a call without input": model(step, done({ input: undefined })),
  "a call with input null": model(step, done({ input: null })),
  "a call with both": model(step, done({ rawInput: "{oops" })),
  "a call that a provider ran": model(step, done({ providerExecuted: true }), text()),
  "a call that a provider still writes": model(
    step,
    tool({ state: "input-streaming", providerExecuted: true }),
    text(),
  ),
  "a half-written call beside a text": model(step, text(), tool({ state: "input-streaming" })),
  "a text behind a call": model(step, done(), text()),
  "two calls": model(step, done(), done({ toolCallId: "b", output: "5" })),

  "a call without a result": model(step, text(), tool({ state: "input-available" })),
  "a call that waits for approval": model(step, tool({ state: "approval-requested", approval: { id: "ap" } })),
  "a call that was approved": model(
    step,
    tool({ state: "approval-responded", approval: { id: "ap", approved: true } }),
  ),
  "a result after an approval": model(step, done({ approval: { id: "ap", approved: true } })),
  "a half-written call alone": model(step, tool({ state: "input-streaming", input: { n: 1 } })),
  "sources, data and custom parts": model(
    step,
    { type: "source-url", sourceId: "1", url: "https://example.org" },
    { type: "source-document", sourceId: "2", mediaType: "text/plain", title: "x" },
    { type: "data-progress", data: 1 },
    { type: "custom", kind: "openai.compaction" },
    text(),
  ),

  "a part that there is not": user({ type: "banana" }),
  "a text without text": user({ type: "text" }),
  "a state that there is not": model(tool({ state: "done" })),
  "a dynamic tool without a name": model({ type: "dynamic-tool", state: "input-available", toolCallId: "a" }),
  "a role that there is not": [{ id: "1", role: "tool", parts: [] }],
  "a message without parts": [{ id: "1", role: "user", content: "Hi." }],
};
