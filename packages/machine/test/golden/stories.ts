import type { Told } from "@colloquy/runtime-test";
import type { Event, Failure, MachineOptions, ReplyDraft, ThreadInput, ToolCallDraft } from "../../src/index.ts";
import { lastTurns } from "../../src/index.ts";

/** A conversation to be told and kept as text, with a machine that suits it. */
export interface Story {
  /** The name of its file. */
  readonly name: string;
  readonly options?: MachineOptions;
  readonly input?: ThreadInput;
  readonly told: readonly Told[];
}

const ask = (
  at: number,
  askId: string,
  input: string,
  more: Partial<Extract<Event, { type: "ask.received" }>> = {},
): Event => ({
  type: "ask.received",
  at,
  askId,
  input,
  ...more,
});
const reply = (at: number, effectId: string, content: string): Event => ({
  type: "llm.completed",
  at,
  effectId,
  reply: { content },
  finishReason: "stop",
});
const calls = (at: number, effectId: string, toolCalls: readonly ToolCallDraft[], content?: string): Event => ({
  type: "llm.completed",
  at,
  effectId,
  reply: { ...(content === undefined ? {} : { content }), toolCalls },
  finishReason: "tool_calls",
});
const call = (name: string, argument: string, id: string | null = "call_0"): ToolCallDraft => ({
  id,
  name,
  arguments: argument,
});
const result = (at: number, effectId: string, content: string): Event => ({
  type: "tool.completed",
  at,
  effectId,
  content,
});
const fired = (at: number, effectId: string): Event => ({ type: "timer.fired", at, effectId });
const failed = (at: number, effectId: string, failure: Partial<Failure>, partial?: ReplyDraft): Event => ({
  type: "llm.failed",
  at,
  effectId,
  failure: { kind: "overloaded", message: "too busy", retryable: true, ...failure },
  ...(partial === undefined ? {} : { partial }),
});
const tools: MachineOptions = { tools: [{ name: "weather" }, { name: "time" }] };

const answering: readonly Story[] = [
  {
    name: "simple-answer",
    input: { threadId: "t", at: 0, system: "Answer in one word.", model: { temperature: 0 } },
    told: [
      "A question, its answer, and a question that goes on from there.",
      ask(1, "a", "The capital of France?", { model: { model: "large" } }),
      reply(2, "t/1.1#1", "Paris."),
      "The second prompt is the first with what was said since.",
      ask(3, "b", "And of Italy?"),
      "The same ask again is refused, and names the turn that answers it.",
      ask(4, "b", "And of Italy?"),
      reply(5, "t/2.1#1", "Rome."),
      "An answer that comes twice is stale.",
      reply(6, "t/2.1#1", "Rome."),
    ],
  },
  {
    name: "parallel-tools",
    options: tools,
    told: [
      ask(1, "a", "Weather in Paris and Rome, and the time?"),
      "Three calls at once; the provider gave two of them one id, and the third none. The effects tell them apart.",
      calls(
        2,
        "t/1.1#1",
        [call("weather", '{"city":"Paris"}'), call("weather", '{"city":"Rome"}'), call("time", "{}", null)],
        "Let me look.",
      ),
      "The results come in another order.",
      result(3, "t/1.1.2#1", "12:00"),
      { type: "tool.started", at: 4, effectId: "t/1.1.0#1" },
      { type: "tool.failed", at: 5, effectId: "t/1.1.1#1", outcome: "failed", content: "no such place" },
      "Only with the last one is the model called, with all of them in call order.",
      result(6, "t/1.1.0#1", "sunny"),
      reply(7, "t/1.2#1", "Sunny in Paris; it is noon."),
    ],
  },
  {
    name: "unknown-tool",
    options: tools,
    told: [
      ask(1, "a", "Book a flight."),
      "A tool that nobody declared is answered by the machine, and the model is called again at once.",
      calls(2, "t/1.1#1", [call("book_flight", '{"to":"Rome"}')]),
      "Beside a known one, it waits for the others like any result.",
      calls(3, "t/1.2#1", [call("weather", "{}"), call("book_flight", "{}", "call_1")]),
      result(4, "t/1.2.0#1", "rain"),
      reply(5, "t/1.3#1", "I can't book flights, and it rains."),
    ],
  },
  {
    name: "system-change",
    input: { threadId: "t", at: 0, system: "Be brief." },
    told: [
      ask(1, "a", "Hello"),
      "The prompt that is out stays as it was sent; the next one has the new system message.",
      { type: "system.changed", at: 2, system: { role: "developer", content: "Be friendly." } },
      reply(3, "t/1.1#1", "Hi."),
      ask(4, "b", "How are you?"),
      reply(5, "t/2.1#1", "Very well, thank you!"),
      { type: "system.changed", at: 6, system: null },
      ask(7, "c", "Good."),
    ],
  },
  {
    name: "append-in-round",
    options: tools,
    told: [
      "What is appended between turns leads the next one, and calls no model.",
      { type: "message.appended", at: 1, message: { role: "user", content: "My name is Ada." } },
      ask(2, "a", "What is the weather where I live?"),
      "While a call is out, it waits.",
      { type: "message.appended", at: 3, message: { role: "user", content: "I live in Paris." } },
      calls(4, "t/1.1#1", [call("weather", "{}")]),
      "And while a tool is out: it comes after the round, never into it.",
      { type: "message.appended", at: 5, message: { role: "system", content: "The user moved to Rome." } },
      result(6, "t/1.1.0#1", "sunny"),
      "After the last answer it ends the turn.",
      { type: "message.appended", at: 7, message: { role: "user", content: "Thanks already." } },
      reply(8, "t/1.2#1", "Sunny."),
      ask(9, "b", "And tomorrow?"),
    ],
  },
];

const stopping: readonly Story[] = [
  {
    name: "retry",
    options: { retry: { attempts: 3, baseDelayMs: 1_000, maxDelayMs: 1_500, maxRetryAfterMs: 60_000 } },
    told: [
      ask(0, "a", "Hello"),
      "The server asks for a wait that is longer than ours: it is kept.",
      failed(10, "t/1.1#1", { kind: "rate_limit", retryAfterMs: 5_000 }),
      fired(5_010, "t/1.1#2!retry"),
      "Ours grows with each attempt, up to its bound; its jitter is derived from the timer's id.",
      failed(5_020, "t/1.1#2", { kind: "network" }, { content: "Hel" }),
      fired(6_500, "t/1.1#3!retry"),
      "The third attempt is the last; what it had shown is kept.",
      failed(6_510, "t/1.1#3", { kind: "network" }, { content: "Hello, I" }),
      "A wait that is too long is no retry, nor is a failure that says so itself.",
      ask(7_000, "b", "Hello?"),
      failed(7_010, "t/2.1#1", { kind: "rate_limit", retryAfterMs: 60_001 }),
      ask(8_000, "c", "Anybody?"),
      failed(8_010, "t/3.1#1", { kind: "auth", retryable: false, message: "bad key" }),
    ],
  },
  {
    name: "deadline",
    options: { ...tools, limits: { deadlineMs: 1_000 } },
    told: [
      ask(0, "a", "Weather?"),
      calls(10, "t/1.1#1", [call("weather", "{}"), call("time", "{}", "call_1")]),
      result(20, "t/1.1.1#1", "12:00"),
      "The turn ends at its deadline: the tool that is out is stopped, and has a result that says so.",
      fired(1_000, "t/1!deadline"),
      result(1_001, "t/1.1.0#1", "sunny"),
      "A turn that ends in time forgets its timer.",
      ask(2_000, "b", "Never mind."),
      reply(2_010, "t/2.1#1", "All right."),
      "A reply that asks for tools after the deadline ends the turn, whether or not the timer was told yet.",
      ask(3_000, "c", "Weather now?"),
      calls(4_000, "t/3.1#1", [call("weather", "{}")]),
    ],
  },
  {
    name: "cancel",
    options: { ...tools, retry: { baseDelayMs: 100, maxDelayMs: 100 } },
    told: [
      "While the model answers: what was shown is kept, but for half a tool call.",
      ask(1, "a", "Tell me a story."),
      { type: "llm.progressed", at: 2, effectId: "t/1.1#1", partial: { content: "Once" } },
      {
        type: "cancel.requested",
        at: 3,
        askId: "a",
        reason: "bored",
        partial: { content: "Once upon a", toolCalls: [call("weather", "{")] },
      },
      "While it waits to try again.",
      ask(4, "b", "A shorter one."),
      failed(5, "t/2.1#1", {}),
      { type: "cancel.requested", at: 6 },
      "While tools run: each call that is out is stopped and has a result.",
      ask(7, "c", "Then the weather."),
      calls(8, "t/3.1#1", [call("weather", "{}"), call("time", "{}", "call_1")]),
      result(9, "t/3.1.0#1", "sunny"),
      { type: "cancel.requested", at: 10, reason: "too late" },
      "The next prompt shows all of it, well-formed.",
      ask(11, "d", "What did you do?"),
      "Nothing to cancel, and nobody by that name.",
      { type: "cancel.requested", at: 12, askId: "x" },
      reply(13, "t/4.1#1", "Nothing much."),
      { type: "cancel.requested", at: 14 },
    ],
  },
  {
    name: "limits",
    options: { ...tools, limits: { steps: 2, toolCalls: 2, tokens: 1_000 } },
    told: [
      "Zero means zero: no model is called.",
      ask(1, "a", "Hello", { limits: { steps: 0 } }),
      "A batch that goes over the limit is refused as a whole.",
      ask(2, "b", "Weather in three cities?"),
      calls(3, "t/2.1#1", [call("weather", "1"), call("weather", "2", "call_1"), call("weather", "3", "call_2")]),
      "The step after the last one is not taken; the results are kept.",
      ask(4, "c", "In one?"),
      calls(5, "t/3.1#1", [call("weather", "1")]),
      result(6, "t/3.1.0#1", "sunny"),
      calls(7, "t/3.2#1", [call("weather", "2")]),
      result(8, "t/3.2.0#1", "rain"),
      "Tokens are counted as they are reported; an answer that is already there is never refused.",
      ask(9, "d", "And?"),
      {
        type: "llm.completed",
        at: 10,
        effectId: "t/4.1#1",
        reply: { content: "Rain." },
        finishReason: "stop",
        usage: { totalTokens: 2_000 },
      },
      "A limit that can't be meant is refused.",
      ask(11, "e", "Hello", { limits: { steps: -1 } }),
    ],
  },
];

const arranging: readonly Story[] = [
  {
    name: "queue",
    options: { overlap: { type: "queue", max: 2 } },
    told: [
      ask(1, "a", "One"),
      "Asks wait their turn, two of them at most.",
      ask(2, "b", "Two"),
      ask(3, "c", "Three"),
      ask(4, "d", "Four"),
      ask(5, "b", "Two"),
      "One is withdrawn.",
      { type: "cancel.requested", at: 6, askId: "b" },
      "The end of a turn wakes the next, by a timer, so that the caller of the first has its answer first.",
      reply(7, "t/1.1#1", "1"),
      "Who asks now waits behind it.",
      ask(8, "e", "Five"),
      fired(9, "t/5!queue"),
      "A turn that fails wakes the next as well.",
      failed(10, "t/2.1#1", { retryable: false }),
      fired(11, "t/8!queue"),
      reply(12, "t/3.1#1", "5"),
    ],
  },
  {
    name: "truncation",
    told: [
      ask(1, "a", "Greet the family."),
      reply(2, "t/1.1#1", "Hello 👨‍👩‍👧! How are you?"),
      "Only seven characters were spoken, the last of which is a family of several code points.",
      { type: "answer.truncated", at: 3, turn: 1, characters: 7 },
      ask(4, "b", "Go on."),
      { type: "answer.truncated", at: 5, turn: 1, characters: 1 },
      reply(6, "t/2.1#1", "How are you?"),
      { type: "answer.truncated", at: 7, turn: 3, characters: 1 },
    ],
  },
  {
    name: "branches",
    told: [
      ask(1, "a", "A poem, please."),
      reply(2, "t/1.1#1", "Roses are red."),
      { type: "checkpoint.named", at: 3, name: "roses" },
      ask(4, "b", "Longer."),
      reply(5, "t/2.1#1", "Roses are red, violets are blue."),
      "Undo: the next turn continues turn 1, and turn 2 keeps its number.",
      { type: "head.moved", at: 6, to: 1 },
      ask(7, "c", "Funnier."),
      reply(8, "t/3.1#1", "Roses are red, and so is my code."),
      { type: "turn.annotated", at: 9, turn: 3, name: "score", value: 1 },
      "Another branch by number, then the checkpoint, then the beginning.",
      { type: "head.moved", at: 10, to: 2 },
      { type: "head.moved", at: 11, to: { checkpoint: "roses" } },
      { type: "head.moved", at: 12, to: 0 },
      ask(13, "d", "Something else."),
      "Not while a turn is open, and not to what is not there.",
      { type: "head.moved", at: 14, to: 1 },
      reply(15, "t/4.1#1", "As you like."),
      { type: "head.moved", at: 16, to: 9 },
      { type: "head.moved", at: 17, to: { checkpoint: "violets" } },
    ],
  },
  {
    name: "window",
    options: { policy: lastTurns(1) },
    input: {
      threadId: "t",
      at: 0,
      system: "Be brief.",
      seed: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hi." },
      ],
    },
    told: [
      "The last turn and the open one are shown; the seed counts as a turn. A cut is journalled when it changes.",
      ask(1, "a", "One"),
      reply(2, "t/1.1#1", "1"),
      ask(3, "b", "Two"),
      reply(4, "t/2.1#1", "2"),
      "A turn that is added by hand is a turn like others.",
      {
        type: "turn.added",
        at: 5,
        messages: [
          { role: "user", content: "Three" },
          { role: "assistant", content: "3" },
        ],
      },
      ask(6, "c", "Four"),
    ],
  },
];

const policies: readonly Story[] = [
  {
    name: "policy-failure",
    options: { policy: { ...lastTurns(1), name: "broken", decide: ({ lastCut }) => nothingTo(lastCut) } },
    told: [
      "A policy that throws is replaced by keep-all for that prompt, and reported.",
      ask(1, "a", "One"),
      reply(2, "t/1.1#1", "1"),
      ask(3, "b", "Two"),
    ],
  },
  {
    name: "interrupted-omitted",
    options: { interrupted: "omit" },
    told: [
      "Turns that were cancelled or failed stay in the thread, and out of prompts.",
      ask(1, "a", "One"),
      reply(2, "t/1.1#1", "1"),
      ask(3, "b", "Two"),
      { type: "cancel.requested", at: 4, partial: { content: "2" } },
      ask(5, "c", "Three"),
    ],
  },
];

function nothingTo(lastCut: unknown): never {
  throw new Error(lastCut === null ? "there was no cut before" : "there was one");
}

export const stories: readonly Story[] = [...answering, ...stopping, ...arranging, ...policies];
