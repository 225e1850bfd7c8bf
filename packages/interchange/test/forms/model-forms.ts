// The forms that the AI SDK may pass to a model.

const parts = (role: "user" | "assistant", ...content: readonly object[]) => [
  ...(role === "user" ? [] : [{ role: "user", content: "Go on." }]),
  { role, content },
];
const call = (more: object = {}) => ({ type: "tool-call", toolCallId: "a", toolName: "f", input: { n: 1 }, ...more });
const resulting = (output: object, more: object = {}) => ({
  type: "tool-result",
  toolCallId: "a",
  toolName: "f",
  output,
  ...more,
});
const answered = (output: object, more: object = {}) => [
  { role: "user", content: "Go on." },
  { role: "assistant", content: [call()] },
  { role: "tool", content: [resulting(output, more)] },
];
const content = (...value: readonly object[]) => answered({ type: "content", value });
const text = (more: object = {}) => ({ type: "text", text: "Hi.", ...more });
const openai = { openai: { x: 1 } };
const ours = (colloquy: object) => ({ providerOptions: { colloquy } });
const approved = (isGranted: boolean, ...results: readonly object[]) => [
  { role: "assistant", content: [call(), { type: "tool-approval-request", approvalId: "ap", toolCallId: "a" }] },
  {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "ap", approved: isGranted, reason: "no!" }, ...results],
  },
];
const png = "iVBORw0KGgo=";

export const modelForms: Readonly<Record<string, unknown>> = {
  "one text": parts("user", text()),
  "an empty text": parts("user", text({ text: "" })),
  "no parts": [{ role: "user", content: [] }],
  "an unknown field of a part and of a message": [{ role: "user", content: [text({ zoom: 2 })], mood: "good" }],
  "a field that says nothing": [{ role: "user", content: [text({ zoom: null })], mood: "" }],
  "options of a text": parts("user", text({ providerOptions: openai })),
  "options of a message": [{ role: "user", content: "Hi.", providerOptions: openai }],
  "a data field": parts("user", text(ours({ data: { field: "city", value: "Oslo" } }))),
  "a data field without a name": parts("user", text(ours({ data: { value: 1 } }))),
  "a data field without a value": parts("user", text(ours({ data: { field: "city" } }))),
  "a provider of ours that is none": parts("user", text(ours({ provider: 7 }))),
  "a name that is none, metadata that are none": [{ role: "user", content: "Hi.", ...ours({ name: 7, metadata: [] }) }],

  "an image by URL": parts("user", { type: "image", image: "https://example.org/a.png" }),
  "an image by bytes that say what they are": ["/9j/4A==", "R0lGODlh", "UklGRg==", png].map((image) => ({
    role: "user",
    content: [{ type: "image", image }],
  })),
  "bytes of which nobody says what they are": parts("user", { type: "image", image: "AAAA" }),
  "bytes of an image of any kind": parts("user", { type: "file", data: "AAAA", mediaType: "image/*" }),
  "an image with its media type": parts("user", { type: "image", image: "AAAA", mediaType: "image/webp" }),
  "an image with options": parts("user", { type: "image", image: png, providerOptions: openai }),
  "an image that is low": parts("user", { type: "image", image: png, ...ours({ detail: "low" }) }),
  "an image that is no image by its type": parts("user", {
    type: "file",
    data: "https://example.org/a",
    mediaType: "text/html",
    ...ours({ image: true }),
  }),
  "an image by URL with a type that says more": parts("user", {
    type: "file",
    data: { type: "url", url: "https://example.org/a" },
    mediaType: "image/png",
  }),
  "an image with a file name": parts("user", { type: "file", data: png, mediaType: "image/png", filename: "a.png" }),
  "an image in an object of bytes": parts("user", { type: "image", image: { bytes: png } }),
  "an image in an object that is none": parts("user", { type: "image", image: { bits: png } }),
  "a file with a name": parts("user", { type: "file", data: "AA==", mediaType: "application/pdf", filename: "a.pdf" }),
  "a file without a name": parts("user", { type: "file", data: "AA==", mediaType: "application/pdf" }),
  "a file by URL": parts("user", { type: "file", data: "https://example.org/a.pdf", mediaType: "application/pdf" }),
  "a file with options": parts("user", {
    type: "file",
    data: "AA==",
    mediaType: "application/pdf",
    providerOptions: openai,
  }),
  "a file by an id of OpenAI": parts("user", {
    type: "file",
    data: { type: "reference", reference: { openai: "file-1" } },
    mediaType: "application/octet-stream",
  }),
  "a file by an id of OpenAI, with a name": parts("user", {
    type: "file",
    data: { type: "reference", reference: { openai: "file-1" } },
    mediaType: "application/octet-stream",
    filename: "a.bin",
  }),
  "a file by an id, of a known type": parts("user", {
    type: "file",
    data: { type: "reference", reference: { openai: "file-1" } },
    mediaType: "application/pdf",
  }),
  "a file by ids of several providers": parts("user", {
    type: "file",
    data: { type: "reference", reference: { openai: "file-1", google: "g" } },
    mediaType: "application/octet-stream",
  }),
  "a file by an id of OpenAI, with options": parts("user", {
    type: "file",
    data: { type: "reference", reference: { openai: "file-1" } },
    mediaType: "application/octet-stream",
    providerOptions: openai,
  }),
  "sound as wav": parts("user", { type: "file", data: "AA==", mediaType: "audio/wav" }),
  "sound as mp3": parts("user", { type: "file", data: "AA==", mediaType: "audio/mpeg" }),
  "sound with a name": parts("user", { type: "file", data: "AA==", mediaType: "audio/mpeg", filename: "a.mp3" }),
  "sound in another form": parts("user", { type: "file", data: "AA==", mediaType: "audio/ogg" }),
  "a file with an unknown field": parts("user", {
    type: "file",
    data: "AA==",
    mediaType: "audio/ogg",
    filename: "a",
    z: 1,
  }),
  "a file of unknown type in an object": parts("user", {
    type: "file",
    data: { type: "data", data: "AA==" },
    mediaType: "application",
  }),

  "a reply of several texts": parts("assistant", text(), text()),
  "an empty reply": parts("assistant"),
  "a reply of an empty text": [
    { role: "user", content: "Go on." },
    { role: "assistant", content: "" },
  ],
  "a refusal": parts("assistant", text(ours({ refusal: true }))),
  "a refusal with options": parts("assistant", text({ providerOptions: { ...openai, colloquy: { refusal: true } } })),
  reasoning: parts("assistant", { type: "reasoning", text: "hm" }, text()),
  "reasoning with a signature": parts(
    "assistant",
    { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s" } } },
    text(),
  ),
  "a reasoning file, a custom part, a file of a model": parts(
    "assistant",
    { type: "reasoning-file", data: png },
    { type: "custom", kind: "x.y" },
    { type: "file", data: "AA==", mediaType: "application/pdf" },
  ),
  "a call that the provider ran": parts(
    "assistant",
    call({ providerExecuted: true }),
    resulting({ type: "text", value: "4" }),
    text(),
  ),
  "a result in the reply itself": [
    { role: "user", content: "Go on." },
    { role: "assistant", content: [call(), resulting({ type: "text", value: "4" })] },
  ],
  "a text behind a call": [
    { role: "user", content: "Go on." },
    { role: "assistant", content: [call(), text()] },
    { role: "tool", content: [resulting({ type: "text", value: "4" })] },
  ],
  "a call with options, an exact string, and no id": [
    { role: "user", content: "Go on." },
    {
      role: "assistant",
      content: [call({ providerOptions: { ...openai, colloquy: { arguments: "{ }", id: null } } })],
    },
    { role: "tool", content: [resulting({ type: "text", value: "4" }, ours({ id: null }))] },
  ],
  "calls with an input that is no object": [null, undefined, "{oops", [1], 0].map((input, index) => ({
    role: "assistant",
    content: [
      { ...call({ toolCallId: `c${index}` }), input },
      { ...resulting({ type: "text", value: "4" }), toolCallId: `c${index}` },
    ],
  })),

  "a result as text": answered({ type: "text", value: "4" }),
  "a result that is empty": answered({ type: "text", value: "" }),
  "a result as JSON": answered({ type: "json", value: { n: 1 } }),
  "a result as a JSON text": answered({ type: "json", value: "4" }),
  "a result as null": answered({ type: "json", value: null }),
  "an error in words": answered({ type: "error-text", value: "no" }),
  "an error as JSON": answered({ type: "error-json", value: { code: 1 } }),
  "an error as a JSON text": answered({ type: "error-json", value: "no" }),
  "a denial with a reason": answered({ type: "execution-denied", reason: "later" }),
  "a denial without one": answered({ type: "execution-denied" }),
  "a result of no parts": content(),
  "a result of one text": content({ type: "text", text: "4" }),
  "a result of an empty text": content({ type: "text", text: "" }),
  "a result of two texts": content({ type: "text", text: "4" }, { type: "text", text: "5" }),
  "a result of a text with options": content({ type: "text", text: "4", providerOptions: openai }),
  "a result of a text with a field": content({ type: "text", text: "4", size: 1 }),
  "a result of a text that is none": content({ type: "text", text: 4 }),
  "a result of a kind that is not known": content({ type: "note", text: "4" }),
  "a result of an image by URL": content({ type: "image-url", url: "https://example.org/a.png" }),
  "a result of an image by URL with options": content({
    type: "image-url",
    url: "https://example.org/a.png",
    providerOptions: openai,
  }),
  "a result of a file by URL": content({
    type: "file-url",
    url: "https://example.org/a.pdf",
    mediaType: "application/pdf",
  }),
  "a result of a URL that is none": content({ type: "image-url", url: 7 }),
  "a result of image data": content({ type: "image-data", data: png, mediaType: "image/png" }),
  "a result of image data without a type": content({ type: "image-data", data: png }),
  "a result of image data that say nothing": content({ type: "image-data", data: "AAAA" }),
  "a result of file data": content({
    type: "file-data",
    data: "AA==",
    mediaType: "application/pdf",
    filename: "a.pdf",
  }),
  "a result of file data with a name that is none": content({
    type: "file-data",
    data: "AA==",
    mediaType: "application/pdf",
    filename: 7,
  }),
  "a result of other data": content({ type: "other-data", data: "AA==", mediaType: "application/pdf" }),
  "a result of a file, its data within": content({
    type: "file",
    data: { type: "data", data: png },
    mediaType: "image/png",
  }),
  "a result of a file, its URL within": content({
    type: "file",
    data: { type: "url", url: "https://example.org/a.png" },
    mediaType: "image",
  }),
  "a result of a file by an id": content({
    type: "file",
    data: { type: "reference", reference: { openai: "file-1" } },
    mediaType: "application/octet-stream",
    filename: "a.bin",
  }),
  "a result of an image by a URL within that is no file": content({
    type: "picture",
    data: { type: "url", url: "https://example.org/a.png" },
  }),
  "options of an output": answered({ type: "text", value: "4", providerOptions: openai }),
  "options of an output of parts": answered({ type: "content", value: [], providerOptions: openai, more: 1 }),
  "an unknown field of an output": answered({ type: "json", value: 1, more: 1 }),
  "options of a result": answered({ type: "text", value: "4" }, { providerOptions: openai }),
  "an unknown field of a result": answered({ type: "text", value: "4" }, { more: 1 }),
  "a result whose outcome we wrote": answered({ type: "error-text", value: "no" }, ours({ outcome: "interrupted" })),
  "a result that we say is complete": answered({ type: "json", value: { n: 1 } }, ours({ outcome: "completed" })),

  "an unknown field of a call": [
    { role: "assistant", content: [call({ dynamic: true }), resulting({ type: "text", value: "1" })] },
  ],
  "an approval, granted": approved(true, resulting({ type: "text", value: "rain" })),
  "an approval, granted without a result": approved(true),
  "an approval, denied": approved(false),
  "an approval, denied with a result": approved(false, resulting({ type: "execution-denied", reason: "no!" })),
  "an approval that waits": approved(true).slice(0, 1),

  "a part that there is not": parts("user", { type: "video" }),
  "instructions of parts": [{ role: "system", content: [] }],
  "results that are a text": [{ role: "tool", content: "x" }],
  "an output that there is not": answered({ type: "unknown", value: 1 }),
  "options that are none": [{ role: "user", content: "Hi.", providerOptions: { x: 1 } }],
  "a role that there is not": [{ role: "function", content: "Hi." }],
};
