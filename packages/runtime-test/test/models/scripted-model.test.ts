import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { fails, never, reply, scriptedModel, streams, toolCalls, UnexpectedCallError } from "../../src/models/index.ts";
import { virtualClock } from "../../src/ports/virtual-clock.ts";
import { callOf, hear, unheard } from "./call.ts";

describe("scriptedModel", () => {
  it("answers call by call, each delta at its time", async () => {
    const model = scriptedModel([
      reply("Sunny, 20 °C.", { delayMs: 300, usage: { inputTokens: 12 }, model: "gpt-test", responseId: "r1" }),
      streams([{ reasoning: "Hm." }, "It ", { text: "rains.", delayMs: 50 }], { finishReason: null }),
    ]);

    const first = await hear(model, callOf("Weather?"));
    expect(first.deltas).toEqual(["Sunny, ", "20 ", "°C."].map((text) => [300, { type: "text", text }]));
    expect(first.outcome).toEqual({
      type: "completed",
      reply: { content: "Sunny, 20 °C." },
      finishReason: "stop",
      usage: { inputTokens: 12 },
      model: "gpt-test",
      responseId: "r1",
    });

    const second = await hear(model, callOf("And now?"));
    expect(second.deltas.map(([at]) => at)).toEqual([0, 0, 50]);
    expect(second.outcome).toEqual({
      type: "completed",
      reply: {
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "It rains." },
        ],
      },
      finishReason: null,
    });
    expect(model.calls.map(({ messages }) => messages.length)).toEqual([1, 1]);
    model.assertComplete();
  });

  it("keeps string arguments unchanged, and numbers calls without an id", async () => {
    const model = scriptedModel([
      toolCalls(
        [
          { name: "get_weather", arguments: { city: "Oslo" } },
          { name: "get_weather", arguments: '{"city": "Oslo"', id: "call_x" },
          { name: "list", arguments: {}, id: null },
        ],
        { content: "Let me see." },
      ),
    ]);
    const { outcome, deltas } = await hear(model, callOf("Weather?"));
    expect(outcome).toMatchObject({
      finishReason: "tool_calls",
      reply: {
        content: "Let me see.",
        toolCalls: [
          { id: "call_1_1", name: "get_weather", arguments: '{"city":"Oslo"}' },
          { id: "call_x", name: "get_weather", arguments: '{"city": "Oslo"' },
          { id: null, name: "list", arguments: "{}" },
        ],
      },
    });
    expect(deltas.at(-1)?.[1]).toEqual({ type: "toolCall", index: 2, id: null, name: "list", arguments: "{}" });
  });

  it("fails by its script, after its shown part", async () => {
    const model = scriptedModel([
      fails({ kind: "rate_limit", retryAfterMs: 2000 }, { delayMs: 10 }),
      fails({ kind: "network", message: "socket hang up" }, { partial: "It is", usage: { outputTokens: 2 } }),
      fails({ kind: "auth" }),
    ]);
    const call = callOf("Weather?");
    const first = await hear(model, call);
    expect(first.endedAt).toBe(10);
    expect(first.outcome).toEqual({
      type: "failed",
      failure: { kind: "rate_limit", message: "the script says: rate_limit", retryable: true, retryAfterMs: 2000 },
    });
    expect((await hear(model, call)).outcome).toEqual({
      type: "failed",
      failure: { kind: "network", message: "socket hang up", retryable: true },
      partial: { content: "It is" },
      usage: { outputTokens: 2 },
    });
    expect((await hear(model, call)).outcome).toMatchObject({ failure: { kind: "auth", retryable: false } });
  });

  it("minds the longest silence that a call bears", async () => {
    const model = scriptedModel([
      streams(["a ", { text: "b ", delayMs: 900 }, { text: "c", delayMs: 1001 }]),
      never({ pieces: ["a"] }),
      streams(["a ", { text: "b", delayMs: 1000 }]),
    ]);
    const call = callOf("Weather?", { idleTimeoutMs: 1000 });
    const first = await hear(model, call);
    expect(first.endedAt).toBe(1900);
    expect(first.outcome).toMatchObject({
      failure: { kind: "timeout", retryable: true },
      partial: { content: "a b " },
    });
    const second = await hear(model, call);
    expect(second.endedAt).toBe(1000);
    expect(second.outcome).toMatchObject({ failure: { kind: "timeout" }, partial: { content: "a" } });
    expect((await hear(model, call)).outcome).toMatchObject({ type: "completed" });
  });

  it("stops when it is cancelled: between two pieces, and when it would never answer", async () => {
    const clock = virtualClock(0);
    const model = scriptedModel([streams(["a", { text: "b", delayMs: 100 }]), never()]);
    for (const shown of [["a"], []]) {
      const cancel = new AbortController();
      const heard: unknown[] = [];
      const outcome = model(callOf("Weather?"), {
        clock,
        tools: [],
        signal: cancel.signal,
        onDelta: (delta) => heard.push("text" in delta ? delta.text : delta),
      });
      await clock.advance(50);
      cancel.abort(new Error("enough"));
      expect(await outcome).toEqual({
        type: "failed",
        failure: { kind: "unknown", message: "the call was aborted", retryable: false, code: "aborted" },
        ...(shown.length === 0 ? {} : { partial: { content: "a" } }),
      });
      expect(heard).toEqual(shown);
      expect(clock.pending()).toEqual([]);
    }
  });

  it("throws on a call that no line is left for, and remembers it", async () => {
    const model = scriptedModel([reply("Sunny.")]);
    await hear(model, callOf("Weather?"));
    const unexpected = model(callOf("What about tomorrow?"), unheard(virtualClock()));
    await expect(unexpected).rejects.toThrow(
      'call 2 of the scripted model was not expected: its script has one line. Add one, such as reply("…"), or find out why the model is called again.\n' +
        'Its prompt has 1 messages and ends with user: "What about tomorrow?".',
    );
    await expect(unexpected).rejects.toBeInstanceOf(UnexpectedCallError);
    expect(() => model.assertComplete()).toThrow("call 2 of the scripted model was not expected");
  });

  it("throws on a call that its next line does not expect", async () => {
    const line = (expects: Parameters<typeof never>[0]): ReturnType<typeof scriptedModel> =>
      scriptedModel([reply("Sunny.", { ...expects })]);
    const call = callOf("Weather?");
    const context = unheard(virtualClock());
    await expect(line({ expects: "Weather" })(call, context)).rejects.toThrow('to be "Weather"');
    await expect(line({ expects: /tomorrow/ })(call, context)).rejects.toThrow("to match /tomorrow/");
    await expect(line({ expects: ({ messages }) => messages.length > 1 })(call, context)).rejects.toThrow("gave false");
    await expect(
      line({ expects: ({ lastUserText }) => expect(lastUserText).toBe("?") })(call, context),
    ).rejects.toThrow(/threw: .*expected 'Weather\?' to be '\?'/);
    for (const expects of ["Weather?", /^Wea/, () => undefined]) {
      await expect(line({ expects })(call, context)).resolves.toMatchObject({ type: "completed" });
    }
  });

  it("names unused lines", async () => {
    const model = scriptedModel([
      reply("Sunny."),
      reply("Rain.", { expects: "And?" }),
      fails({ kind: "auth" }),
      never(),
    ]);
    await hear(model, callOf("Weather?"));
    expect(() => model.assertComplete()).toThrow(
      'the script was not used up: the model was called 1 times, and 3 of 4 lines are left:\n  line 2: "Rain." (expects And?)\n  line 3: "" [fails: auth]\n  line 4: "" [never ends]',
    );
  });

  it("refuses deltas that do not add up, and negative delays", () => {
    expect(() => reply("Sunny", { deltas: ["Sun", "y"] })).toThrow('add up to "Suny" and not to "Sunny"');
    expect(() => reply("Sunny", { delayMs: -1 })).toThrow("a delay of -1 ms");
  });

  test.prop([fc.string({ unit: "binary" })])("streams any text word by word, and loses nothing", async (text) => {
    const { outcome, deltas } = await hear(scriptedModel([reply(text)]), callOf("Weather?"));
    expect(deltas.map(([, delta]) => ("text" in delta ? delta.text : "")).join("")).toBe(text);
    expect(outcome).toMatchObject({ reply: text === "" ? {} : { content: text } });
  });
});
