import { describe, expect, it } from "vitest";
import { fails, reply, type ScriptLine, scriptedModel, toolCalls } from "../../src/models/index.ts";
import type { LoopbackServer } from "../../src/server/index.ts";
import { stoppedText } from "../../src/server/text-completion.ts";
import { eventsOf, post, serverFor } from "./client.ts";

const complete = (server: LoopbackServer, body: object = {}): Promise<Response> =>
  post(server, { model: "test", prompt: "Child: why? Teacher:", ...body }, { path: "/v1/completions" });

const answering = (...lines: readonly ScriptLine[]): { readonly model: ReturnType<typeof scriptedModel> } => ({
  model: scriptedModel(lines),
});

const usage = { inputTokens: 5, outputTokens: 2 };
const wireUsage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

/** Returns the texts of a stream's events, one by one. */
const textsOf = async (response: Response): Promise<readonly string[]> =>
  (await eventsOf(response)).flatMap((event) => {
    // This server writes the chunks; `[DONE]` has no choices.
    const { choices = [] } = event as { readonly choices?: readonly { readonly text: string }[] };
    return choices.map(({ text }) => text);
  });

describe("a text completion", () => {
  it("goes on from the prompt, whole", async () => {
    const { model } = answering(reply(" Since.", { usage }));
    const server = await serverFor({ model });
    expect(await (await complete(server, { prompt: ["Child: why?"] })).json()).toEqual({
      id: "cmpl-1",
      object: "text_completion",
      created: 1_767_225_600,
      model: "test",
      choices: [{ text: " Since.", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: wireUsage,
    });
    expect(model.calls[0]?.messages.map(({ role, parts }) => ({ role, parts }))).toEqual([
      { role: "user", parts: [{ type: "text", text: "Child: why?" }] },
    ]);
  });

  it("comes in pieces, with its usage if that was asked for", async () => {
    const server = await serverFor(answering(reply("So it is.", { usage }), reply("Yes.", { usage })));
    const events = await eventsOf(await complete(server, { stream: true, stream_options: { include_usage: true } }));
    const chunk = (text: string, finish_reason: string | null = null): object => ({
      id: "cmpl-1",
      object: "text_completion",
      created: 1_767_225_600,
      model: "test",
      choices: [{ text, index: 0, logprobs: null, finish_reason }],
      usage: null,
    });
    expect(events).toEqual([
      chunk("So "),
      chunk("it "),
      chunk("is."),
      chunk("", "stop"),
      { ...chunk(""), choices: [], usage: wireUsage },
      "[DONE]",
    ]);
    expect(await (await complete(server, { stream: true })).text()).not.toContain("usage");
  });

  it("ends at a stop string as the server is asked to, wherever that is cut", async () => {
    const line = (): ScriptLine => reply("Since.\nChild : and?", { deltas: ["Since.\nChi", "ld", " : and", "?"] });
    const stop = ["Child :", "Teacher :"];
    const server = await serverFor(answering(line(), line()));
    expect((await textsOf(await complete(server, { stop, stream: true }))).join("")).toBe("Since.\n");
    expect(await (await complete(server, { stop })).json()).toMatchObject({ choices: [{ text: "Since.\n" }] });
  });

  it("fails as the model does, and where the model says more than text", async () => {
    const server = await serverFor(
      answering(
        fails({ kind: "overloaded" }),
        fails({ kind: "overloaded", message: "gone" }, { partial: "So it" }),
        toolCalls([{ name: "f", arguments: "{}" }]),
      ),
    );
    expect((await complete(server)).status).toBe(503);
    expect((await eventsOf(await complete(server, { stream: true }))).at(-1)).toMatchObject({
      error: { message: "gone" },
    });
    expect(await (await complete(server)).text()).toContain("a text completion is text only");
  });

  it.each([
    ["no prompt", { prompt: undefined }, "prompt"],
    ["tokens for a prompt", { prompt: [1, 2] }, "prompt[0]"],
    ["five stop strings", { stop: ["a", "b", "c", "d", "e"] }, "stop"],
    ["messages for a prompt", { prompt: undefined, messages: [] }, "prompt"],
  ])("is refused with %s", async (_, body, param) => {
    const response = await complete(await serverFor(answering()), body);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
  });
});

it("a text that stops is the same however it is cut", () => {
  const text = "aab aabaac tail";
  for (const [stops, expected] of [
    [["aabaac"], "aab "],
    [["aac", "ba"], "aab aa"],
    [["ab a", "abx"], "a"],
    [["zz", ""], text],
  ] as const) {
    for (let at = 0; at <= text.length; at++) {
      const stopped = stoppedText(stops);
      const given = [text.slice(0, at), text.slice(at)].map(stopped.push).join("") + stopped.end();
      expect(given).toBe(expected);
    }
  }
});
