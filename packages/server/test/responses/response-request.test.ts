import { describe, expect, test } from "vitest";
import {
  echoOf,
  modelParametersOf,
  type ResponseRequest,
  responseRequest,
} from "../../src/responses/response-request.ts";

const look = { type: "function", name: "look" };
const many = (count: number): readonly object[] => Array.from({ length: count }, () => look);
const skips = (...skipped: readonly string[]) => ({ skipped });

describe("a request", () => {
  test.each<readonly [object, object]>([
    [{}, {}],
    [{ max_output_tokens: 100 }, { max_output_tokens: 100 }],
    [{ max_output_tokens: "100" }, { max_output_tokens: 100 }],
    [{ max_output_tokens: 1 }, { max_output_tokens: 1 }],
    [{ max_output_tokens: 0 }, { max_output_tokens: null }],
    [{ max_output_tokens: -1 }, { max_output_tokens: null }],
    [
      { conversation: "", previous_response_id: "" },
      { conversation: null, previous_response_id: null },
    ],
    [{ conversation: { id: "t" } }, { conversation: { id: "t" } }],
    [{ conversation: "x".repeat(128) }, { conversation: "x".repeat(128) }],
    [
      { max_tool_calls: 0, temperature: 2, top_p: 1 },
      { max_tool_calls: 0, temperature: 2, top_p: 1 },
    ],
    [
      { temperature: 0, top_p: 0 },
      { temperature: 0, top_p: 0 },
    ],
    [{ tools: [] }, { tools: [] }],
    [
      { tools: [look], tool_choice: "any" },
      { tools: [look], tool_choice: "required" },
    ],
    [{ tools: many(1_000) }, { tools: [look], skipped: expect.any(Array) }],
    [{ metadata: { a: 1 } }, { metadata: { a: "1" } }],
    [{ seed: 7 }, skips("seed: skipped; it is not known here")],
    [{ seed: null, user: null }, { user: null }],
    [
      { stream_options: { include_usage: true, other: false, none: null } },
      skips("stream_options.include_usage: skipped; streams have no such option here"),
    ],
    [{ include: "reasoning" }, skips('include[0]: skipped; "reasoning" is not given here')],
    [
      { include: ["a", "b"] },
      skips('include[0]: skipped; "a" is not given here', 'include[1]: skipped; "b" is not given here'),
    ],
    [{ truncation: "disabled", top_logprobs: 0, prompt_cache_retention: null }, {}],
    [{ truncation: "auto" }, skips("truncation: skipped; the host's policy decides")],
    [{ top_logprobs: 1 }, skips("top_logprobs: skipped; log probabilities are not given here")],
    [{ prompt_cache_retention: "24h" }, skips("prompt_cache_retention: skipped; it is not passed on")],
  ])("%j is read as %j", (body, expected) => {
    expect(responseRequest.parse(body)).toEqual(expected);
  });

  test.each<readonly [object, string, string]>([
    [{ prompt: { id: "p" } }, "prompt", "stored prompts are not kept here"],
    [{ messages: [] }, "messages", "is a member of chat completions"],
    [{ tools: [{ ...look, name: "no name" }] }, "tools.0.name", "must be of 1 to 128 letters"],
    [{ tools: [{ ...look, name: "x".repeat(129) }] }, "tools.0.name", "must be of 1 to 128 letters"],
    [{ tools: many(1_001) }, "tools", "<=1000"],
    [{ tools: [{ type: "shell" }], tool_choice: "required" }, "tool_choice", "all tools of the request were skipped"],
    [{ conversation: "x".repeat(129) }, "conversation", ""],
    [{ conversation: "a/b" }, "conversation", ""],
    [{ input: 7 }, "input", "must be a text or a list of items"],
    [{ max_tool_calls: -1 }, "max_tool_calls", ">=0"],
    [{ temperature: 2.1 }, "temperature", "<=2"],
    [{ top_p: -0.1 }, "top_p", ">=0"],
    [{ top_p: 1.1 }, "top_p", "<=1"],
  ])("%j is refused by the name of its member", (body, path, words) => {
    const { error } = responseRequest.safeParse(body);
    expect(error?.issues[0]?.path.join(".")).toBe(path);
    expect(error?.issues[0]?.message).toContain(words);
  });
});

describe("a response repeats", () => {
  test("the members of its request, except what it has itself", () => {
    const request: ResponseRequest = {
      model: "m1",
      user: null,
      input: "hi",
      stream: true,
      conversation: "t",
      store: true,
    };
    expect(echoOf(request)).toEqual({ model: "m1", store: true });
  });

  test("what was skipped as metadata, cut to 512 characters", () => {
    const skippedIn = (skipped: readonly string[]) => echoOf({ metadata: { a: "1" }, skipped })["metadata"];
    expect(skippedIn(["one", "two"])).toEqual({ a: "1", colloquy_skipped: "one\ntwo" });
    expect(skippedIn(["x".repeat(512)])).toEqual({ a: "1", colloquy_skipped: "x".repeat(512) });
    expect(skippedIn(["x".repeat(513)])).toEqual({ a: "1", colloquy_skipped: `${"x".repeat(511)}…` });
  });
});

describe("the model is called with", () => {
  const tools = [{ type: "function", name: "look" }] as const;
  const schema = { type: "json_schema", name: "answer", schema: { type: "object" } };

  test.each<readonly [ResponseRequest, object, object]>([
    [{}, {}, {}],
    [
      { model: "m1", temperature: 0, user: null },
      { model: "m1", temperature: 0 },
      { model: "m1", temperature: 0 },
    ],
    [{ parallel_tool_calls: false }, {}, {}],
    [{ parallel_tool_calls: false, tools: [] }, {}, {}],
    [{ parallel_tool_calls: false, tools }, { parallel_tool_calls: false }, { parallel_tool_calls: false }],
    [{ max_output_tokens: 9 }, { max_completion_tokens: 9 }, { max_output_tokens: 9 }],
    [{ reasoning: { effort: "low" } }, { reasoning_effort: "low" }, { reasoning: { effort: "low" } }],
    [{ text: { verbosity: "low" } }, { verbosity: "low" }, { text: { verbosity: "low" } }],
    [{ text: { format: { type: "text" } } }, {}, { text: { format: { type: "text" } } }],
    [{ text: { format: 7 } }, {}, { text: { format: 7 } }],
    [
      { text: { format: { type: "json_object", more: 1 } } },
      { response_format: { type: "json_object" } },
      { text: { format: { type: "json_object", more: 1 } } },
    ],
    [
      { text: { format: schema } },
      { response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } } },
      { text: { format: schema } },
    ],
    [{ tool_choice: "none" }, { tool_choice: "none" }, { tool_choice: "none" }],
    [{ tool_choice: look }, { tool_choice: { type: "function", function: { name: "look" } } }, { tool_choice: look }],
    ...[{ type: "custom" }, { type: "custom", tools: [look] }, { type: "allowed_tools" }].map(
      (choice) => [{ tool_choice: choice }, { tool_choice: choice }, { tool_choice: choice }] as const,
    ),
    [
      { tool_choice: { type: "allowed_tools", tools: [look, "odd"] } },
      {
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "look" } }] },
        },
      },
      { tool_choice: { type: "allowed_tools", tools: [look, "odd"] } },
    ],
  ])("the parameters of %j by the names of either API", (request, chat, responses) => {
    expect(modelParametersOf(request, "chat")).toEqual(chat);
    expect(modelParametersOf(request, "responses")).toEqual(responses);
    expect(modelParametersOf(request, () => ({ own: true }))).toEqual({ own: true });
  });
});
