import type { LlmOutcome } from "@colloquy/host";
import { type Event, type JsonObject, type Message, textOf, type ToolDeclaration } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { fails, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { gptCounter } from "@colloquy/interchange/tokens";
import { describe, expect, it } from "vitest";
import { linearise, type LineariseOptions } from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { stage, weather } from "../stage.ts";

const said = (messages: readonly Message[]): readonly string[] => messages.map((message) => textOf(message));
const say = (text: string): LlmOutcome => ({ type: "completed", reply: { content: text }, finishReason: "stop" });

const ask: Event = { type: "ask.received", at: 1, askId: "a", input: "Q" };
const answered = (text: string, finishReason = "stop"): Event => ({
  type: "llm.completed",
  at: 2,
  effectId: "t/1.1#1",
  reply: { content: text },
  finishReason,
});

describe("an example", () => {
  it("is the prompt as it was sent at its step, whatever the thread came to since", async () => {
    const { host, journal } = stage(async ({ messages }) => say(`A${messages.length}`), { policy: lastTurns(1) });
    const thread = host.thread("t");
    await thread.start({ system: "Be short." });
    for (const question of ["Q1", "Q2", "Q3"]) await thread.ask(question);
    await thread.changeSystem("Be long.");
    await host.close();
    const { examples, leftOut } = linearise([await journal("t")]);
    expect(leftOut).toEqual([]);
    expect(examples.map(({ prompt, reply: { parts } }) => [...said(prompt), parts])).toEqual([
      ["Be short.", "Q1", [{ type: "text", text: "A2" }]],
      ["Be short.", "Q1", "A2", "Q2", [{ type: "text", text: "A4" }]],
      ["Be short.", "Q2", "A4", "Q3", [{ type: "text", text: "A4" }]],
    ]);
  });

  it("is an answer with the tools that were offered; or, by step, each reply", async () => {
    const script = [toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), reply("Clear.")];
    const { host, journal } = stage(scriptedModel(script), {}, [weather]);
    await host.ask("Is it clear?", { threadId: "t" });
    await host.close();
    const journals = [await journal("t")];
    const tools: readonly ToolDeclaration[] = [weather.declaration];
    const [answer] = linearise(journals, { tools }).examples;
    expect(answer?.tools).toEqual(tools);
    expect(answer?.step).toBe(2);
    expect(linearise(journals, { per: "step" }).examples.map(({ step, prompt }) => [step, prompt.length])).toEqual([
      [1, 1],
      [2, 3],
    ]);
    expect(linearise(journals).tools).toEqual([{ name: "weather", is: "missing", examples: 1 }]);
    const changed = [{ ...weather.declaration, description: "Something else." }];
    expect(linearise(journals, { tools: changed }).tools).toEqual([{ name: "weather", is: "changed", examples: 1 }]);
    expect(linearise(journals, { tools }).tools).toEqual([]);
  });

  it("an example of an added turn has the tools of the thread's metadata, or else those of the options", () => {
    const given = [{ name: "g" }];
    const added: Event = {
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", content: "A" },
      ],
    };
    const toolsOf = (tools: unknown, options: LineariseOptions = { tools: given }) => {
      // Cast: an importer elsewhere may have written anything.
      const metadata = { tools } as JsonObject;
      return linearise([addedJournal([{ type: "metadata.changed", at: 1, metadata }, added])], options).examples[0]
        ?.tools;
    };
    expect(toolsOf([null, "f", 7, {}, { name: 7 }, { name: "f" }])).toEqual([{ name: "f" }]);
    for (const none of [[], [null], "f"]) expect(toolsOf(none)).toEqual(given);
    expect(toolsOf([], {})).toEqual([]);
  });

  it("linearise makes one example for each step of an added turn", () => {
    const added: Event = {
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content: "Q" },
        { role: "assistant", toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
        { role: "tool", toolCallId: "a", content: "4" },
        { role: "assistant", content: "A" },
      ],
    };
    const journal = addedJournal([added], "t", "Briefly:");
    const { examples } = linearise([journal], { per: "step" });
    expect(examples.map(({ turn, step, prompt }) => [turn, step, prompt.map(({ role }) => role)])).toEqual([
      [1, 1, ["system", "user"]],
      [1, 2, ["system", "user", "assistant", "tool"]],
    ]);
  });

  it("linearise counts the examples of each tool that is undeclared or declared differently", async () => {
    const { host, journal } = stage(async () => say("A"), {}, [weather]);
    for (const question of ["Q1", "Q2"]) await host.ask(question, { threadId: "t" });
    await host.close();
    expect(linearise([await journal("t")]).tools).toEqual([{ name: "weather", is: "missing", examples: 2 }]);
    const bare = linearise([await journal("t")], { tools: [{ name: "weather" }] });
    expect(bare.tools).toEqual([{ name: "weather", is: "changed", examples: 2 }]);
    expect(bare.examples.map(({ tools }) => tools)).toEqual([[{ name: "weather" }], [{ name: "weather" }]]);
  });

  it("an example has the score of the newest annotation with the given name", () => {
    const annotated = (name: string, value: boolean | number | string): Event => {
      return { type: "turn.annotated", at: 3, turn: 1, name, value };
    };
    const scoreOf = (options: LineariseOptions, ...annotations: readonly Event[]) =>
      linearise([addedJournal([ask, answered("A"), ...annotations])], options).examples.map(({ score }) => score);
    const both = [annotated("score", 0.2), annotated("mine", 0.5), annotated("mine", true)];
    expect(scoreOf({}, ...both)).toEqual([0.2]);
    expect(scoreOf({ score: "mine", minScore: 1 }, ...both)).toEqual([1]);
    expect(scoreOf({ score: "mine", minScore: 1.5 }, ...both)).toEqual([]);
    expect(scoreOf({ score: "none" }, ...both)).toEqual([null]);
    expect(scoreOf({}, annotated("score", 0.2), annotated("score", "good"))).toEqual([null]);
  });

  it("takes as many tokens as the API reports for the cookbook's example", async () => {
    const counter = await gptCounter({ model: "gpt-4o" });
    const journal = addedJournal([
      {
        type: "turn.added",
        at: 1,
        messages: [
          { role: "system", content: cookbook[0] },
          { role: "system", name: "example_user", content: cookbook[1] },
          { role: "system", name: "example_assistant", content: cookbook[2] },
          { role: "system", name: "example_user", content: cookbook[3] },
          { role: "system", name: "example_assistant", content: cookbook[4] },
          { role: "user", content: cookbook[5] },
          { role: "assistant", content: "No time." },
        ],
      },
    ]);
    const [example] = linearise([journal], { counter }).examples;
    // The reply counts four tokens as a message, and three for its words with the full stop.
    expect(example?.tokens).toEqual({ total: 124 + 4 + 3, trained: 3 });
  });
});

const cookbook = [
  "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
  "New synergies will help drive top-line growth.",
  "Things working well together will increase revenue.",
  "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
  "Let's talk later when we're less busy about how to do better.",
  "This late pivot means we don't have time to boil the ocean for the client deliverable.",
] as const;

describe("what is left out, and why", () => {
  const add = (content: string): Event => ({
    type: "turn.added",
    at: 3,
    messages: [
      { role: "user", content: "Q" },
      { role: "assistant", content },
    ],
  });
  const cases: readonly (readonly [string, readonly Event[], LineariseOptions])[] = [
    ["truncated", [ask, answered("A", "length")], {}],
    ["truncated", [ask, answered("A", "model_length")], {}],
    ["truncated", [ask, answered("A long one."), { type: "answer.truncated", at: 3, turn: 1, characters: 3 }], {}],
    ["undone", [ask, answered("A"), { type: "head.moved", at: 3, to: 0 }], {}],
    ["unscored", [ask, answered("A")], { minScore: 0.5 }],
    [
      "belowScore",
      [ask, answered("A"), { type: "turn.annotated", at: 3, turn: 1, name: "score", value: 0.4 }],
      { minScore: 0.5 },
    ],
    ["redacted", [add("[redacted]")], {}],
    ["empty", [ask, answered("")], {}],
    [
      "continues",
      [
        { type: "message.appended", at: 1, message: { role: "assistant", content: "Well," } },
        { type: "ask.received", at: 1, askId: "a", input: [] },
        answered("A"),
      ],
      {},
    ],
    [
      "untrained",
      [
        {
          type: "turn.added",
          at: 1,
          messages: [
            { role: "user", content: "Q" },
            { role: "assistant", content: "A", metadata: { weight: 0 } },
          ],
        },
      ],
      {},
    ],
    ["unrecorded", [ask, { ...answered("A"), promptDigest: "other" } as Event], {}],
  ];
  it.each(cases)("%s: %j", (because, events, options) => {
    const { examples, leftOut } = linearise([addedJournal(events)], options);
    expect(examples).toEqual([]);
    expect(leftOut.map((each) => each.because)).toEqual([because]);
  });

  it("linearise leaves out a turn that was recovered after a crash, and no other", () => {
    const { entries, name } = addedJournal([
      ask,
      answered("A"),
      { ...ask, askId: "b" },
      { ...answered("B"), effectId: "t/2.1#1" } as Event,
    ]);
    const recovered = entries.map((entry) => (entry.seq === 2 ? { ...entry, recovered: true as const } : entry));
    const { examples, leftOut } = linearise([{ name, entries: recovered }]);
    expect(leftOut.map(({ turn, because }) => [turn, because])).toEqual([[1, "recovered"]]);
    expect(examples.map(({ turn }) => turn)).toEqual([2]);
  });

  it("linearise keeps a turn if a recovery wrote only entries before it", () => {
    const { entries, name } = addedJournal([{ type: "metadata.changed", at: 1, metadata: {} }, ask, answered("A")]);
    const recovered = entries.map((entry) => (entry.seq === 1 ? { ...entry, recovered: true as const } : entry));
    expect(linearise([{ name, entries: recovered }])).toMatchObject({ examples: [{ turn: 1 }], leftOut: [] });
  });

  it("linearise leaves out a redacted turn, even if it had no text", () => {
    for (const events of [[ask, answered("A")], [add("A")]]) {
      const { entries, name } = addedJournal(events);
      const last = entries.length - 1;
      const redacted = entries.map((entry) => (entry.seq === last ? { ...entry, redacted: true as const } : entry));
      expect(linearise([{ name, entries: redacted }]).leftOut.map(({ because }) => because)).toEqual(["redacted"]);
      expect(linearise([{ name, entries }]).leftOut).toEqual([]);
    }
  });

  it("a turn that failed after a tool, and one that was cancelled", async () => {
    const script = [toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), fails({ kind: "bad_request" })];
    const { host, journal } = stage(scriptedModel(script), {}, [weather]);
    await expect(host.ask("Is it clear?", { threadId: "t" })).rejects.toThrow("bad_request");
    await host.close();
    const { leftOut } = linearise([await journal("t")], { per: "step" });
    expect(leftOut).toEqual([{ thread: "t", turn: 1, step: 1, because: "failed", score: null }]);
    const call = { id: "1", name: "f", arguments: "{}" };
    const cancelled = addedJournal([
      ask,
      { ...answered(""), reply: { toolCalls: [call] } } as Event,
      { type: "cancel.requested", at: 3 },
    ]);
    expect(linearise([cancelled]).leftOut.map(({ because }) => because)).toEqual(["cancelled"]);
    // It calls an unknown tool, so the machine gives the result, and the next step is not an example.
    const open = { name: "open", entries: cancelled.entries.slice(0, 3) };
    expect(linearise([open]).leftOut.map(({ because }) => because)).toEqual(["open"]);
  });

  it("an answer that was not the output that was asked for, and the one to which the machine asked for it again", async () => {
    const { host, journal } = stage(scriptedModel([reply("{}"), reply('{"n":1}'), reply('{"n":2}')]));
    const { output } = await host.ask("A number?", { threadId: "t", output: { schema: aNumber, name: "number" } });
    expect(output).toEqual({ n: 1 });
    await host.ask("Another?", { threadId: "t", output: { schema: aNumber, name: "number" } });
    await host.close();
    const { examples, leftOut } = linearise([await journal("t")], { per: "step" });
    expect(leftOut.map(({ turn, step, because }) => [turn, step, because])).toEqual([
      [1, 1, "refused"],
      [1, 2, "synthesised"],
    ]);
    // Refused content is in no later prompt.
    expect(examples.map(({ prompt }) => said(prompt))).toEqual([["A number?", '{"n":1}', "Another?"]]);
  });

  it("what a copy shares with the thread that it was copied from", async () => {
    const { host, journal } = stage(async () => say("A"));
    await host.ask("Q1", { threadId: "t" });
    const { thread: fork } = await host.thread("t").fork();
    await fork.ask("Q2");
    await host.close();
    const journals = [await journal("t"), await journal(fork.id)];
    const both = linearise(journals);
    expect(both.examples.map(({ thread, turn }) => [thread, turn])).toEqual([
      ["t", 1],
      [fork.id, 2],
    ]);
    expect(both.leftOut).toEqual([{ thread: fork.id, turn: 1, step: 1, because: "copied", score: null }]);
    expect(linearise(journals.slice(1)).examples).toHaveLength(2);
  });

  it("what a copy shares comes from the copy where its origin has undone it, and not where it was redacted", async () => {
    const { host, journal } = stage(async () => say("A"));
    const thread = host.thread("t");
    for (const question of ["Q1", "Q2"]) await thread.ask(question);
    const { thread: fork } = await thread.fork();
    const { thread: other } = await thread.fork();
    await thread.undo();
    const journals = () => Promise.all(["t", fork.id, other.id].map(journal));
    const { examples, leftOut } = linearise(await journals());
    expect(examples.map((example) => [example.thread, example.turn])).toEqual([
      ["t", 1],
      [fork.id, 2],
    ]);
    await thread.redact({ turn: 1 });
    await host.close();
    expect(linearise(await journals()).examples).toEqual([]);
    expect(leftOut.map((left) => [left.thread, left.turn, left.because])).toEqual([
      ["t", 2, "undone"],
      [fork.id, 1, "copied"],
      [other.id, 1, "copied"],
      [other.id, 2, "copied"],
    ]);
  });

  it("a journal that can't be folded is named", () => {
    const { entries } = addedJournal([ask, answered("A")]);
    const broken = { name: "broken", entries: [entries[0], entries[2]].flatMap((entry) => entry ?? []) };
    expect(linearise([broken]).unreadable).toEqual([
      { thread: "broken", reason: expect.stringContaining("entry 1: entry 2 stands where 1 should") },
    ]);
  });
});

/** `{ n: number }`. */
const aNumber = {
  jsonSchema: {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  },
} as const;
