import type { MachineOptions } from "../../src/index.ts";
import { clearResults, compose, lastTurns, limitResults, omitFields, type Policy } from "../../src/policies.ts";
import { characterCounter, rolling } from "../hand-made.ts";
import { ask, call, calls, failed, fired, reply, result, type Story } from "./story.ts";

// Stories under policies and counters that no vector can name. A character is a token here.

const within = (tokens: number, more: MachineOptions = {}): MachineOptions => ({
  counter: characterCounter,
  budget: { tokens, reserve: 0 },
  tools: [{ name: "weather" }],
  retry: { baseDelayMs: 0 },
  ...more,
});
const whenFull = rolling({ keep: 0, when: "full", maxTokens: 40, without: "drop" });

const summaries: readonly Story[] = [
  {
    name: "compaction",
    options: { policy: rolling(), tools: [{ name: "weather" }] },
    told: [
      "All turns but the newest are summarised, as soon as they have ended.",
      ask(1, "a", "Weather in Paris?"),
      calls(2, "t/1.1#1", [call("weather", '{"city":"Paris"}')]),
      result(3, "t/1.1.0#1", "sunny"),
      reply(4, "t/1.2#1", "It is sunny."),
      ask(5, "b", "And in Rome?"),
      "The answer is told first; then the summary is asked for, in the background.",
      reply(6, "t/2.1#1", "I guess so."),
      "It comes while the next call is out, whose prompt stays as it was sent.",
      ask(7, "c", "Only a guess?"),
      reply(8, "t/summary-1#1", "Paris is sunny."),
      reply(9, "t/3.1#1", "Yes."),
      "The next prompt shows it, and the next summary is told of it.",
      ask(10, "d", "Hm."),
      reply(11, "t/summary-2#1", "Paris is sunny, Rome perhaps."),
      reply(12, "t/4.1#1", "Hm?"),
      ask(13, "e", "Never mind."),
    ],
  },
  {
    name: "compacting",
    options: within(100, { policy: whenFull }),
    told: [
      ask(1, "a", "Tell me something about everything."),
      reply(2, "t/1.1#1", "Everything is a lot, so this takes time."),
      "The next prompt does not fit without a summary: the call waits, for a minute at most.",
      ask(3, "b", "And about nothing at all, please?"),
      "What is said meanwhile joins the turn.",
      { type: "message.appended", at: 4, message: { role: "user", content: "In short." } },
      reply(5, "t/summary-1#1", "All is much."),
      calls(6, "t/2.1#1", [call("weather", "{}")]),
      "The round of the open turn is never summarised, and nothing else is left to be: what is older is left out.",
      result(7, "t/2.1.0#1", "nothing, really"),
      reply(8, "t/2.2#1", "Nothing."),
      ask(9, "c", "Now about something in between."),
      "Nobody waits for ever.",
      fired(60_009, "t/3.0#1!summary"),
      "A summary that comes after all is refused.",
      reply(60_010, "t/summary-2#1", "Too late."),
    ],
  },
  {
    name: "summary-failure",
    options: within(100, { policy: rolling({ keep: 0, maxTokens: 40, failures: 9 }) }),
    told: [
      ask(1, "a", "Tell me something about everything."),
      reply(2, "t/1.1#1", "Everything is a lot, so this takes time."),
      "A summary that is empty, cut off, too long or no summary at all, or whose call fails, changes nothing.",
      reply(3, "t/summary-1#1", " "),
      ask(4, "b", "More."),
      reply(5, "t/summary-2#1", "This goes on for longer than was allowed for it."),
      reply(6, "t/2.1#1", "More?"),
      failed(7, "t/summary-3#1", {}),
      ask(8, "c", "Yes."),
      calls(9, "t/summary-4#1", [call("weather", "{}")]),
      reply(10, "t/3.1#1", "Yes?"),
      {
        type: "llm.completed",
        at: 11,
        effectId: "t/summary-5#1",
        reply: { content: "Everything is" },
        finishReason: "length",
      },
      "Where a call has waited for it in vain, and the policy knows nothing else, the turn ends, with the numbers.",
      ask(12, "d", "And now something that is too long."),
      failed(13, "t/summary-6#1", { message: "Error generating summary" }),
    ],
  },
  {
    name: "summary-called-off",
    options: { policy: rolling({ keep: 0 }) },
    told: [
      ask(1, "a", "One"),
      reply(2, "t/1.1#1", "1"),
      reply(3, "t/summary-1#1", "They count."),
      ask(4, "b", "Two"),
      reply(5, "t/2.1#1", "2, or so"),
      "Its turns leave the path.",
      { type: "head.moved", at: 6, to: 1 },
      ask(7, "c", "Three"),
      reply(8, "t/3.1#1", "3, or so"),
      "Its turns are no longer what they were.",
      { type: "answer.truncated", at: 9, turn: 3, characters: 1 },
      reply(10, "t/summary-3#1", "Too late."),
      "What was written about a turn that was shortened since is not shown again.",
      { type: "answer.truncated", at: 11, turn: 1, characters: 0 },
      ask(12, "d", "Four"),
    ],
  },
];

const budgets: readonly Story[] = [
  {
    name: "unfit",
    options: within(40, { policy: lastTurns(0) }),
    input: { threadId: "t", at: 0, system: "Be brief." },
    told: [
      "What can't be left out takes more room than there is: nothing is sent, and the numbers are told.",
      ask(1, "a", "A question that is much too long."),
      "The conversation goes on with the next one.",
      ask(2, "b", "A shorter one."),
      calls(3, "t/2.1#1", [call("weather", "{}")]),
      "In the middle of a turn it keeps what it has: the round is whole.",
      result(4, "t/2.1.0#1", "sunny, with clouds"),
      "An exact fit is one.",
      ask(5, "c", "x".repeat(31)),
    ],
  },
  {
    name: "context-warnings",
    options: within(100, { policy: lastTurns(1) }),
    told: [
      "Once for each crossing upwards.",
      ask(1, "a", "x".repeat(80)),
      reply(2, "t/1.1#1", "y"),
      ask(3, "b", "z"),
      reply(4, "t/2.1#1", "y"),
      ask(5, "c", "x".repeat(90)),
      reply(6, "t/3.1#1", "yyyy"),
      ask(7, "d", "z".repeat(6)),
      {
        type: "llm.completed",
        at: 8,
        effectId: "t/4.1#1",
        reply: { content: "y" },
        finishReason: "stop",
        usage: { inputTokens: 150 },
      },
      "The model counted half as many again, so there is less room than it seemed.",
      ask(9, "e", "z".repeat(60)),
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
    name: "in-part",
    options: {
      policy: compose(
        omitFields(["mood"]),
        limitResults({ characters: 250 }),
        clearResults({ keep: 1, when: "always" }),
        dropping("1.2"),
      ),
      tools: [{ name: "weather" }],
    },
    told: [
      ask(1, "a", "", {
        input: [
          { type: "data", field: "question", value: "Weather in Paris?" },
          { type: "data", field: "mood", value: "curious" },
        ],
      }),
      "A long result is shown by its beginning and its end.",
      calls(2, "t/1.1#1", [call("weather", '{"city":"Paris"}')]),
      result(3, "t/1.1.0#1", `${"sunny, ".repeat(40)}hot`),
      reply(4, "t/1.2#1", "It is sunny."),
      "A turn that has ended loses a field and, here, its answer, which the policy drops.",
      ask(5, "b", "And in Rome?"),
      "A newer result clears the one before it.",
      calls(6, "t/2.1#1", [call("weather", '{"city":"Rome"}')]),
      result(7, "t/2.1.0#1", `${"rainy, ".repeat(40)}cold`),
      reply(8, "t/2.2#1", "It rains."),
      ask(9, "c", "Thanks."),
    ],
  },
];

/** Drops one unit of closed turns, by its id. */
function dropping(unit: string): Policy {
  const decide: Policy["decide"] = ({ history }) => {
    const units = [...history.newestFirst()].flatMap((turn) => turn.units());
    return {
      from: null,
      dropped: units.map(({ id }) => id).filter((id) => id === unit),
      reason: `${unit} is not wanted`,
    };
  };
  return { ...lastTurns(9), name: "dropping", options: { unit }, decide };
}

function nothingTo(lastCut: unknown): never {
  throw new Error(lastCut === null ? "there was no cut before" : "there was one");
}

export const stories: readonly Story[] = [...policies, ...summaries, ...budgets];
