import { createHost, declarationsOf, type Host, type LlmHandler, type Store, tool } from "@colloquy/host";
import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { compose, lastTurns, limitResults, tokenWindow } from "@colloquy/machine/policies";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";
import type { StudioConfiguration } from "../../../src/studio/index.ts";

/** A host that plans trips, with its own policy and with another. */
export interface Trips {
  readonly host: Host;
  readonly configurations: readonly [StudioConfiguration, StudioConfiguration];
  readonly close: () => Promise<void>;
}

/** Makes a host for a conversation with tools, an approval, branches and a budget that is too small for it. */
export const trips = (store: Store, startAt: number = Date.UTC(2026, 8, 14, 9)): Trips => {
  const clock = virtualClock(startAt);
  // Each reading of the clock lets a moment pass.
  let now = startAt;
  const passing = { ...clock, now: () => (now += 430) };
  const ids = sequentialIds();
  const make = (options: MachineOptions): Host =>
    createHost({
      store,
      clock: passing,
      ids,
      tools,
      llm: guide,
      machine: conversationMachine({ ...options, tools: declarationsOf(tools) }),
    });
  const budget = { tokens: 900, reserve: 200 };
  const policy = compose(limitResults({ characters: 200 }), tokenWindow({ cutTo: 0.75 }));
  const host = make({ policy, budget });
  const other = make({ policy: lastTurns(2), budget });
  return {
    host,
    configurations: [
      { name: "limited results in a window", host },
      { name: "the last 2 turns", host: other },
    ],
    close: async () => {
      await host.close();
      await other.close();
    },
  };
};

/** Holds the conversation; its last turn waits for an approval. */
export const planTrip = async (host: Host, threadId: string): Promise<void> => {
  const thread = host.thread(threadId);
  await thread.start({
    system: "You plan trips by train. Look things up before you promise them; ask before you book.",
    metadata: { team: "rail" },
  });
  for (const [question, from] of questions) {
    await thread.ask(question, from === undefined ? {} : { from }).catch(() => null);
    if (question.startsWith("Which platform")) await thread.checkpoint("before hotels");
  }
  const asked = thread.ask("Good. Book two seats in the quiet coach for the morning train.");
  for await (const part of asked) if (part.type === "approval.requested") break;
};

const questions: readonly (readonly [question: string, from?: number])[] = [
  ["Two of us want to go from Hamburg to Oslo in October. Where do we begin?"],
  ["What is the weather like in Oslo then?"],
  ["Find us trains on the 12th."],
  ["And for the 13th?"],
  ["Which platform does the morning train leave from?"],
  ["Find us hotels near the central station."],
  ["No hotels: we stay with friends. Is there a night train instead?", 5],
  ["Please fail now, so that we see what a failure looks like."],
  ["Thank you. What did we say about the weather?"],
  ["Summarise the plan so far in three sentences, with times."],
  ["How long do we have to change in Copenhagen?"],
];

const tools = [
  tool({
    name: "weather",
    description: "The weather in a city in a month.",
    input: z.object({ city: z.string(), month: z.string() }),
    run: ({ city }) => `${city}: 4 to 9 degrees, rain on 14 days, sunset at 18:05 in the middle of the month.`,
  }),
  tool({
    name: "trains",
    description: "Connections between two cities on a day.",
    input: z.object({ from: z.string(), to: z.string(), day: z.number() }),
    run: ({ from, to, day }) =>
      Array.from(
        { length: 9 },
        (_, index) =>
          `${day} October, ${5 + index}:${index % 2 === 0 ? "12" : "48"} ${from} → ${to}, ${14 + (index % 3)} h, change in Copenhagen${index % 4 === 0 ? " and Gothenburg" : ""}, ${89 + index * 12} EUR`,
      ).join("\n"),
  }),
  tool({
    name: "book",
    description: "Books seats on a train.",
    version: "2",
    approval: "always",
    input: z.object({ train: z.string(), seats: z.number(), coach: z.string() }),
    run: ({ train, seats }) => `Booked ${seats} seats on ${train}: reference QX7.`,
  }),
];

/** Answers the newest question, and calls the tools for it. */
const guide: LlmHandler = ruleModel([
  {
    name: "a tool answered",
    when: ({ last }) => last?.role === "tool",
    answer: ({ last }) => `Here is what I found: ${(last?.text ?? "").split("\n").slice(0, 2).join("; ")}`,
  },
  {
    name: "weather",
    when: ({ lastUserText }) => lastUserText.includes("weather like"),
    answer: () =>
      toolCalls([{ name: "weather", arguments: { city: "Oslo", month: "October" } }], { content: "Let me look." }),
  },
  {
    name: "trains",
    when: ({ lastUserText }) => /the 1[23]th/.test(lastUserText),
    answer: ({ lastUserText }) =>
      toolCalls([
        { name: "trains", arguments: { from: "Hamburg", to: "Oslo", day: Number(/1[23]/.exec(lastUserText)?.[0]) } },
      ]),
  },
  {
    name: "book",
    when: ({ lastUserText }) => lastUserText.includes("Book two"),
    answer: () => toolCalls([{ name: "book", arguments: { train: "5:12 Hamburg → Oslo", seats: 2, coach: "quiet" } }]),
  },
  {
    name: "fail",
    when: ({ lastUserText }) => lastUserText.includes("fail now"),
    answer: () => fails({ kind: "content_filter", retryable: false, message: "the provider refused this prompt" }),
  },
  {
    name: "else",
    when: () => true,
    answer: ({ lastUserText, messages }) =>
      reply(
        `About “${lastUserText.slice(0, 60)}”: with ${messages.length} messages before me, I would take the morning train by Copenhagen, which leaves you the evening in Oslo and one change with forty minutes to spare.`,
      ),
  },
]);
