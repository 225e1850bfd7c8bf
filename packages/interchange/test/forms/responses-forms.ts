// The forms that the Responses API accepts and returns.

const user = { type: "message", role: "user", content: "Hi." };
const message = (content: unknown, more: object = {}) => [
  user,
  { type: "message", role: "assistant", content, ...more },
];
const parts = (...content: readonly object[]) => [{ type: "message", role: "user", content }];
const call = (more: object = {}) => ({ type: "function_call", call_id: "a", name: "f", arguments: '{"n":1}', ...more });
const output = (more: object = {}) => ({ type: "function_call_output", call_id: "a", output: "4", ...more });
const text = (more: object = {}) => ({ type: "output_text", text: "Hello.", annotations: [], ...more });
const input = (more: object = {}) => ({ type: "input_text", text: "Hi.", ...more });

export const responsesForms: Readonly<Record<string, unknown>> = {
  "a text alone": "Hi.",
  "a message": [user],
  "a message without a type": [{ role: "user", content: "Hi." }],
  "a message with an id and a status": [{ ...user, id: "msg_1", status: "completed" }],
  "a message with fields that say nothing": [{ ...user, id: null, status: undefined, tags: [] }],
  "no content": [
    { ...user, content: null },
    { role: "user", content: [] },
  ],
  instructions: [{ role: "developer", content: "Be brief." }, { role: "system", content: "Be kind." }, user],
  "one text": parts(input()),
  "an empty text": parts(input({ text: "" })),
  "a text with a field": parts(input({ cache: true })),
  "two texts": parts(input(), { type: "text", text: "There." }),
  "an image": parts({ type: "input_image", image_url: "https://example.org/a" }),
  "an image that is low": parts({ type: "input_image", image_url: "https://example.org/a", detail: "low" }),
  "an image by id": parts({ type: "input_image", file_id: "file-1" }),
  "an image with a detail that is none": parts({ type: "input_image", image_url: "https://example.org/a", detail: 7 }),
  "an image with nulls": parts({
    type: "input_image",
    image_url: "https://example.org/a",
    file_id: null,
    detail: null,
  }),
  "a file": parts({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" }),
  "a file by id": parts({ type: "input_file", file_id: "file-1", file_data: null }),
  "a file by URL": parts({ type: "input_file", file_url: "https://example.org/a" }),
  sound: parts({ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }),
  "a part that is not known": parts({ type: "input_film", film: 1 }),
  "a text that is none": parts({ type: "input_text", text: 7 }),
  "a refusal of a user": parts({ type: "refusal", refusal: "No." }),

  "a reply": message("Hello."),
  "an empty reply": message(""),
  "a reply of no parts": message([]),
  "a reply of no parts with an id": message([], { id: "msg_1" }),
  "a reply of one text": message([text()]),
  "a reply of one text with an id": message([text()], { id: "msg_1", status: "completed" }),
  "a reply of an empty text with an id": message([text({ text: "" })], { id: "msg_1" }),
  "a reply with annotations": message([text({ annotations: [{ type: "url_citation" }] })]),
  "a reply of two texts": message([text(), text()]),
  "a refusal": message([{ type: "refusal", refusal: "No." }]),
  "a refusal with a field": message([{ type: "refusal", refusal: "No.", why: "x" }]),
  "a refusal that is none": message([{ type: "refusal", refusal: 7 }]),
  "two replies": [...message([text()], { id: "msg_1" }), { type: "message", role: "assistant", content: "More." }],

  "a call": [user, call(), output()],
  "a call with an id": [user, call({ id: "fc_1", status: "completed" }), output()],
  "a call without an id": [user, call({ call_id: null }), output({ call_id: null })],
  "a call without arguments": [user, call({ arguments: null }), output()],
  "two calls": [user, call(), call({ call_id: "b" }), output(), output({ call_id: "b", output: "5" })],
  "a custom call": [
    user,
    { type: "custom_tool_call", call_id: "a", name: "f", input: "go" },
    { type: "custom_tool_call_output", call_id: "a", output: "4" },
  ],
  "a custom call without input": [
    user,
    { type: "custom_tool_call", call_id: "a", name: "f" },
    { type: "custom_tool_call_output", call_id: "a", output: "4" },
  ],
  "a result with an id": [user, call(), output({ id: "fco_1", status: "completed" })],
  "a result of parts": [
    user,
    call(),
    output({ output: [input(), { type: "input_image", image_url: "https://example.org/a" }] }),
  ],
  "a result that is empty": [user, call(), output({ output: "" })],
  "a result that is null": [user, call(), output({ output: null })],
  "a message before a call": [...message([text()], { id: "msg_1" }), call(), output()],
  "a message behind a call": [user, call(), { type: "message", role: "assistant", content: [text()] }, output()],
  "a message before and behind a call": [
    ...message("One moment.", { id: "msg_1" }),
    call(),
    { type: "message", role: "assistant", content: "Soon.", id: "msg_2" },
    output(),
  ],
  reasoning: [
    user,
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
    ...message("Hello.").slice(1),
  ],
  "reasoning with content": [
    user,
    { type: "reasoning", id: "rs_1", summary: [{ text: "short" }], content: [{ text: "h" }, { text: "m" }] },
    call(),
    output(),
  ],
  "reasoning without words": [
    user,
    { type: "reasoning", summary: [], content: null, encrypted_content: "x" },
    call(),
    output(),
  ],
  "reasoning alone": [user, { type: "reasoning", id: "rs_1", summary: [] }],
  "reasoning that is none": [user, { type: "reasoning", summary: "hm" }],

  "a search of the web": [
    user,
    { type: "web_search_call", id: "ws_1", status: "completed" },
    ...message("Found.").slice(1),
  ],
  "a shell that the caller runs": [
    user,
    { type: "local_shell_call", call_id: "a", action: { command: ["ls"] } },
    { type: "local_shell_call_output", call_id: "a", output: "x" },
  ],
  "a shell that nobody answered": [user, { type: "local_shell_call", call_id: "a", action: {} }],
  "a call of a kind to come": [
    user,
    { type: "future_call", call_id: "a", x: 1 },
    { type: "future_call_output", call_id: "a", y: 1 },
  ],
  "a call of a kind to come, unanswered": [user, { type: "future_call", call_id: "a" }],
  "an output of a kind to come, without a call": [user, { type: "future_call_output", y: 1 }],
  "a reference": [user, { id: "item_1" }, { type: "item_reference", id: "item_2" }],
  "an approval": [
    user,
    { type: "mcp_approval_request", id: "ap", name: "f" },
    { type: "mcp_approval_response", approval_request_id: "ap", approve: true },
  ],
  "tools for developers, and for users": [
    { type: "additional_tools", role: "developer", tools: [] },
    { type: "additional_tools", role: "system", tools: [] },
    user,
    { type: "additional_tools", role: "user", tools: [] },
  ],
  compaction: [user, { type: "compaction", encrypted_content: "x" }, { type: "compaction_trigger" }, user],
  "an item that there is not": [user, { type: "banana" }],
  "an item that is none": [user, "Hi."],
  "a type that is none": [user, { type: 7 }],
  "a role that there is not": [{ type: "message", role: "critic", content: "Bad." }],
  "a call without a name": [user, { type: "function_call", call_id: "a" }],

  "an output without a call": [output()],
  "an output of a reference": [{ type: "item_reference", id: "fc_1" }, output()],
  "a call that nobody answered": [user, call()],
  "a computer that the caller runs": [
    { type: "computer_call", call_id: "c", id: "cu_1", action: { type: "screenshot" } },
    { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", image_url: "data:x" } },
  ],
  "tools that the caller searches, and that the server searches": [
    { type: "tool_search_call", call_id: "t", execution: "client", arguments: {} },
    { type: "tool_search_output", call_id: "t", execution: "client", tools: [] },
    { type: "tool_search_call", id: "ts_1" },
    { type: "tool_search_output", id: "ts_1" },
  ],
  "calls, messages and reasoning of one round": [
    ...message([text()], { id: "msg_0" }),
    call(),
    { type: "message", role: "assistant", id: "msg_1", phase: "final_answer", content: [text()] },
    call({ call_id: "b", id: "fc_2" }),
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
    output(),
    output({ call_id: "b" }),
  ],
};
