import { type CallLlm, digestOfPrompt, messagesFromSeed, type ReplyDraft, type SeedDraft } from "@colloquy/machine";
import { loopbackServer } from "@colloquy/runtime-test/server";
import OpenAI from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources";
import { describe, expect, it } from "vitest";
import { cities } from "./cities.ts";
import { weatherModel } from "./rules.ts";
import { weatherDeclarations, weatherTools } from "./tools.ts";

/** A Friday in every time zone. */
const friday = { now: () => new Date(2026, 0, 2, 9).getTime() };

describe("the weather model", () => {
  it("answers follow-ups from the conversation that it is sent", async () => {
    const { answers } = await converse(
      "What's the weather in Seattle?",
      "What about tomorrow?",
      "Should I bring an umbrella?",
    );
    expect(answers).toEqual([
      "Seattle today (Friday): cloudy, high 11 °C (52 °F), low 6 °C (43 °F), 30% chance of rain, wind 9 km/h.",
      "Seattle tomorrow (Saturday): rain, high 9 °C (48 °F), low 5 °C (41 °F), 85% chance of rain, wind 21 km/h.",
      "Yes, take an umbrella in Seattle tomorrow: rain, 85% chance of rain.",
    ]);
  });

  it.each(["What about tomorrow?", "Should I bring an umbrella?", "And tonight?", "Tell me more."])(
    "asks which city when it is sent only: %s",
    async (text) => {
      expect((await converse(text)).answers[0]).toMatch(/^Which city do you mean\?/);
    },
  );

  it("takes the city from an earlier tool call alone", async () => {
    const reply = await answerTo([
      { role: "user", content: "…" },
      { role: "assistant", toolCalls: [{ id: "a", name: "get_weather", arguments: '{"city":"Oslo","day":1}' }] },
      { role: "tool", toolCallId: "a", content: "" },
      { role: "assistant", content: "…" },
      { role: "user", content: "Is it windy?" },
    ]);
    expect(reply.toolCalls).toEqual([{ id: "call_2", name: "get_weather", arguments: '{"city":"Oslo","day":1}' }]);
  });

  it("continues with the question once the city is named", async () => {
    const { answers } = await converse("Should I bring an umbrella tomorrow?", "st louis");
    expect(answers[1]).toMatch(/umbrella in St\. Louis tomorrow/);
  });

  it.each<readonly [string, readonly string[]]>([
    ["weather in SAO... no, in saint louis today", ["St. Louis 0"]],
    ["What's New York City's weather the day after tomorrow?", ["New York 2"]],
    ["Will it rain in Zurich or Bogota on Monday?", ["Zürich 3", "Bogotá 3"]],
    [
      "Compare Rio de Janeiro and Mexico City this weekend",
      ["Rio de Janeiro 1", "Rio de Janeiro 2", "Mexico City 1", "Mexico City 2"],
    ],
    ["Do I need a jacket in Oslo in 3 days?", ["Oslo 3"]],
    ["Today and tomorrow in Paris, please", ["Paris 0", "Paris 1"]],
    ["The forecast for Tokyo", ["Tokyo for 3 days"]],
    ["Tokyo, the next five days", ["Tokyo for 5 days"]],
    ["tomorrow's forecast for Tokyo", ["Tokyo 1"]],
    ["How was Lisbon's week?", ["Lisbon for 7 days"]],
    ["What's the weather like in Atlantis tomorrow?", ["Atlantis 1"]],
    ["will it rain in atlantis?", ["atlantis 0"]],
    ["What about Atlantis?", ["Atlantis 0"]],
    ["How warm is it in Oslo in Fahrenheit?", ["Oslo 0"]],
  ])("looks up: %s", async (text, calls) => {
    const { toolCalls = [] } = await answerTo([{ role: "user", content: text }]);
    expect(toolCalls.map(inShort)).toEqual(calls);
  });

  it.each<readonly [readonly string[], readonly string[]]>([
    [["Is it windy in Oslo tomorrow?", "And in Rome?"], ["Rome 1"]],
    [["Is it windy in Oslo tomorrow?", "What's the weather in Rome?"], ["Rome 0"]],
    [
      ["How warm is Oslo?", "Compare it to Rome"],
      ["Oslo 0", "Rome 0"],
    ],
    [
      ["Oslo or Rome, which is warmer?", "What about Sunday?"],
      ["Oslo 2", "Rome 2"],
    ],
    [["Is it windy in Oslo tomorrow?", "and the day after?"], ["Oslo 2"]],
    [["Oslo tomorrow?", "And the day after?", "and the next day?", "and the day after that?"], ["Oslo 4"]],
    [["Oslo's forecast", "and the day after?"], ["Oslo 3"]],
    [["Oslo tomorrow?", "and the day after tomorrow?"], ["Oslo 2"]],
    [["Oslo tomorrow?", "and the day before?"], ["Oslo 0"]],
    [["Oslo?", "the day after Sunday?"], ["Oslo 3"]],
    [["Seattle tomorrow?", "what about Oslo?", "and on Sunday?"], ["Oslo 2"]],
    [["Is it windy in Oslo tomorrow?", "Thanks!", "Hello again", "What about today?"], ["Oslo 0"]],
  ])("understands after %j", async (texts, calls) => {
    const last = (await converse(...texts)).calls.at(-1) ?? [];
    expect(last.map(inShort)).toEqual(calls);
  });

  it("compares two cities with a call for each", async () => {
    const { answers, calls } = await converse("Is it warmer in Oslo or in Cairo?");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toHaveLength(2);
    expect(answers[0]).toContain("Cairo is 21 °C warmer than Oslo.");
  });

  it("passes on a tool's error about an unknown city", async () => {
    const { answers } = await converse("What's the weather in Seatle?", "In Xyzzyville?");
    expect(answers).toEqual([
      `I'm sorry: There is no weather for "Seatle". Did you mean Seattle?`,
      `I'm sorry: There is no weather for "Xyzzyville". Call list_cities for the cities that there are.`,
    ]);
  });

  it("greets, takes thanks, names its cities, and says what it can't know", async () => {
    const { answers } = await converse(
      "Hello!",
      "Which cities do you know?",
      "Wind in Oslo?",
      "Thank you",
      "And in 9 days?",
      "Tell me a joke.",
    );
    expect(answers[0]).toMatch(/^Hello!/);
    expect(answers[1]).toBe(
      `I know about ${cities
        .map(({ name }) => name)
        .sort()
        .join(", ")}.`,
    );
    expect(answers.slice(3)).toEqual([
      "You're welcome!",
      "I can see only 6 days ahead. Which day until then would you like to know about?",
      "I only know about the weather. Ask me about it in Oslo, or in another city.",
    ]);
  });

  it("takes today, its weekday and its weekend from the clock", async () => {
    const sunday = { now: () => new Date(2026, 6, 26, 23, 59).getTime() };
    const { answers, calls } = await converseOn(sunday, "Seattle?", "And tomorrow?", "And on Sunday?", "On Saturday?");
    expect(answers[0]).toMatch(/^Seattle today \(Sunday\): /);
    expect(answers[1]).toMatch(/^Seattle tomorrow \(Monday\): /);
    expect(answers[2]).toBe(answers[0]);
    expect(answers[3]).toMatch(/^Seattle on Saturday \(Saturday\): /);
    expect(calls.at(-1)?.map(inShort)).toEqual(["Seattle 6"]);
    const weekend = await converseOn(sunday, "Will it rain in Oslo this weekend?");
    expect(weekend.calls[0]?.map(inShort)).toEqual(["Oslo 0"]);
  });

  it("does not look back", async () => {
    const { answers } = await converse("Oslo?", "and the day before?", "Was it windy yesterday?");
    expect(answers.slice(1)).toEqual(Array(2).fill(expect.stringMatching(/^I can't look back\./)));
  });

  it("serves a program with OpenAI's own client", async () => {
    await using server = await loopbackServer({ model: weatherModel(friday), apiKey: "sk-test" });
    const client = new OpenAI({ baseURL: server.url, apiKey: "sk-test", maxRetries: 0 });
    const messages: ChatCompletionMessageParam[] = [];
    const answers: string[] = [];
    for (const content of ["What's the weather in Seattle?", "Is it warmer there or in Phoenix tomorrow?"]) {
      messages.push({ role: "user", content });
      answers.push(await agentLoop(client, messages));
    }
    expect(answers[0]).toMatch(/^Seattle today/);
    expect(answers[1]).toMatch(/^Seattle tomorrow.*\nPhoenix tomorrow.*\nPhoenix is 15 °C warmer than Seattle\.$/);
    expect(server.requests.at(-1)?.headers["authorization"]).toBe("[withheld]");
  });
});

type Calls = NonNullable<ReplyDraft["toolCalls"]>;

interface Conversation {
  readonly answers: readonly string[];
  /** The tool calls, round by round. */
  readonly calls: readonly Calls[];
}

/** Sends one text after the other, and runs the requested tools in between. */
const converse = (...texts: readonly string[]): Promise<Conversation> => converseOn(friday, ...texts);

const converseOn = async (clock: typeof friday, ...texts: readonly string[]): Promise<Conversation> => {
  const prompt: SeedDraft[] = [];
  const answers: string[] = [];
  const calls: Calls[] = [];
  for (const content of texts) {
    prompt.push({ role: "user", content });
    let reply = await answerTo(prompt, clock);
    while (reply.toolCalls !== undefined) {
      calls.push(reply.toolCalls);
      prompt.push({ role: "assistant", ...reply });
      for (const { id, name, arguments: written } of reply.toolCalls) {
        prompt.push({ role: "tool", toolCallId: id, content: await runTool(name, written, clock) });
      }
      reply = await answerTo(prompt, clock);
    }
    prompt.push({ role: "assistant", ...reply });
    answers.push(typeof reply.content === "string" ? reply.content : JSON.stringify(reply.content));
  }
  return { answers, calls };
};

const answerTo = async (prompt: readonly SeedDraft[], clock = friday): Promise<ReplyDraft> => {
  const seeded = messagesFromSeed(0, prompt);
  if ("left" in seeded) throw new Error(seeded.left);
  const call: CallLlm = {
    type: "callLlm",
    id: "thread/1.1#1",
    threadId: "thread",
    turn: 1,
    step: 1,
    attempt: 1,
    purpose: "answer",
    messages: seeded.right,
    promptDigest: digestOfPrompt(seeded.right),
    model: {},
  };
  const outcome = await weatherModel(clock)(call, {
    signal: new AbortController().signal,
    onDelta: () => undefined,
    clock: { ...clock, wakeAt: () => () => undefined },
    tools: [],
  });
  if (outcome.type === "failed") throw new Error(outcome.failure.message);
  return outcome.reply;
};

/** Returns the result of a tool as a model reads it. */
const runTool = async (name: string, written: string, clock = friday): Promise<string> => {
  const tool = weatherTools(clock).find(({ declaration }) => declaration.name === name);
  const input = await tool?.schema?.["~standard"].validate(JSON.parse(written));
  if (tool === undefined || input === undefined || input.issues !== undefined)
    return `can't call ${name} with ${written}`;
  try {
    const call = {
      signal: new AbortController().signal,
      idempotencyKey: "",
      threadId: "",
      turn: 1,
      step: 1,
      callId: "",
      state: () => {
        throw new Error("no rule looks at the thread");
      },
    };
    return JSON.stringify(tool.run(input.value, { ...call, toolContext: {} }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const inShort = ({ arguments: written }: Calls[number]): string => {
  // Cast: the model under test writes these; anything else shows in the comparison.
  const { city, day, days } = JSON.parse(written) as { city: string; day?: number; days?: number };
  return days === undefined ? `${city} ${day}` : `${city} for ${days} days`;
};

const tools: ChatCompletionTool[] = weatherDeclarations.map(({ name, description = "", parameters }) => ({
  type: "function",
  function: { name, description, parameters },
}));

/**
 * Runs the loop of a program without Colloquy: it streams, runs tools, and repeats until there is an answer.
 */
const agentLoop = async (client: OpenAI, messages: ChatCompletionMessageParam[]): Promise<string> => {
  for (;;) {
    const stream = client.chat.completions.stream({ model: "weather", messages, tools });
    const { message } = (await stream.finalChatCompletion()).choices[0] ?? {};
    if (message === undefined) throw new Error("no choice");
    messages.push(message);
    if (message.tool_calls === undefined) return message.content ?? "";
    for (const call of message.tool_calls) {
      if (call.type !== "function") throw new Error(`a call of type ${call.type}`);
      messages.push({
        role: "tool",
        tool_call_id: call.id,
        content: await runTool(call.function.name, call.function.arguments),
      });
    }
  }
};
