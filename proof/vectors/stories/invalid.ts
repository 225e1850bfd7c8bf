import type { AskReceived, Limits, MessageDraft } from "@colloquy/machine";

import { added, answered, ask, calling, pinned, roundBefore, type Untimed, user } from "./events.ts";
import type { Story } from "./story.ts";

const wrong = (more: Omit<Partial<AskReceived>, "at">): Untimed => ask("b", "Well?", more);
const output = { name: "title", schema: {}, mode: "tool", repairs: 0 } as const;

/** In JSON a message may have what its type has not. */
const message = (more: object): MessageDraft => ({ ...user("Look."), ...more });
/** In a variable, as what stands there itself has no more than its type has. */
const of1Turn: Limits & { readonly turns: number } = { turns: 1 };
const foreign = { function_call: { name: "look" } };
const calls = [{ id: "call_0", name: "look", arguments: "{}" }];
const rounds = roundBefore("Look.", "look");
const [call, results] = [rounds.slice(0, 1), rounds.slice(1)];
const round = {
  reply: { content: "Look.", toolCalls: calls },
  results: [{ outcome: "completed", content: "" }],
} as const;

/** Stories of invalid events, each beside a valid one. */
export const invalidStories: readonly Story[] = [
  {
    name: "invalid-asks",
    says: "Asks whose names, limits, messages or places fit nothing are refused.",
    options: { tools: [{ name: "look" }], overlap: { type: "queue", max: 9 } },
    events: [
      ask("a"),
      answered("t/1.1#1"),
      ask(""),
      wrong({ limits: of1Turn }),
      wrong({ limits: { steps: 1.5 } }),
      wrong({ limits: { tokens: -1 } }),
      wrong({ limits: { deadlineMs: 2 ** 53 } }),
      ...["Ada Lovelace", "", "a.b", "Zoë", "a".repeat(65)].map((name) => wrong({ name })),
      wrong({ input: [message({ name: "a b" })] }),
      wrong({ tools: [{ name: "" }] }),
      wrong({ tools: [{ name: "time" }, { name: "time" }] }),
      wrong({ tools: [{ name: "look" }] }),
      wrong({ tools: [{ name: "title" }], output }),
      wrong({ output: { ...output, name: "" } }),
      wrong({ output: { ...output, name: "look" } }),
      wrong({ from: 1, joins: {} }),
      wrong({ from: 1, overlap: "queue" }),
      wrong({ from: 2 }),
      wrong({ from: { checkpoint: "nowhere" } }),
      ask("b", [message({ toolCalls: calls })]),
      ask("b", [user("Well?"), message({ tool_calls: calls })]),
      ask("b", [message({ function_call: { name: "look" } })]),
      ask("b", [message({ toolCalls: "" })]),
      ask("b", [message({ type: "text" })]),
      ask("b", [message({ role: "tool" })]),
      {
        says: "Another mode has no name that a model calls.",
        event: wrong({
          from: 1,
          overlap: "reject",
          output: { ...output, name: "look", mode: "native" },
          tools: [{ name: "title" }],
        }),
      },
      wrong({ from: 1 }),
      ask("c", [message({ toolCalls: [] }), message({ tool_calls: null })]),
      answered("t/2.1#1"),
      { says: "The head can't move: an ask waits.", event: ask("d", "Well?", { from: 1 }) },
    ],
  },
  {
    name: "invalid-edits",
    says: "Turns, rounds, names, pins and redactions that fit nothing are refused.",
    events: [
      added(),
      added(message({ toolCalls: calls })),
      added(message({ tool_calls: calls })),
      added(...call),
      added(...call, user("Well?"), ...results),
      added(...results),
      added(...rounds, ...results),
      added(message({ role: "assistant", function_call: { name: "look" } })),
      { type: "message.appended", message: message({ toolCalls: calls }) },
      { type: "round.appended", ...round, reply: { content: "Look." } },
      { type: "round.appended", ...round, reply: { toolCalls: [] }, results: [] },
      { type: "round.appended", ...round, results: [...round.results, ...round.results] },
      { type: "round.appended", ...round, reply: { ...round.reply, ...foreign } },
      { type: "checkpoint.named", name: "" },
      { type: "thread.redacted", seqs: [] },
      { type: "thread.redacted", seqs: [1, 1] },
      { type: "thread.redacted", seqs: [1, 0] },
      { type: "thread.redacted", seqs: [1, 2] },
      { says: "The newest entry is among those there are.", event: { type: "thread.redacted", seqs: [0] } },
      pinned("0.0"),
      pinned("s1"),
      pinned("1.0", false),
      { type: "answer.truncated", turn: 0, characters: 1 },
      { type: "turn.annotated", turn: 0, name: "score", value: 1 },
      { type: "head.moved", to: 1 },
      { type: "head.moved", to: { checkpoint: "" } },
      { says: "A turn that nobody answered.", event: added(user("Once.")) },
      { type: "answer.truncated", turn: 1, characters: 1 },
      { type: "turn.annotated", turn: 2, name: "score", value: 1 },
      { type: "head.moved", to: 2 },
      { type: "thread.configured", configuration: { fingerprint: "f" } },
    ],
  },
  {
    name: "edits-while-a-turn-is-about-to-open",
    says: "While an ask waits for its turn the thread is edited as little as while one is open, but it may be forked.",
    options: { overlap: { type: "queue", max: 9 }, tools: [{ name: "look" }] },
    events: [
      ask("a"),
      ask("b"),
      { type: "thread.forked", from: { threadId: "elsewhere", turn: 0 } },
      calling("t/1.1#1", "look"),
      { type: "thread.forked", from: { threadId: "elsewhere", turn: 0 } },
      { type: "cancel.requested", reason: "enough" },
      added(user("Once.")),
      { type: "answer.truncated", turn: 1, characters: 1 },
      { type: "head.moved", to: 0 },
      { type: "checkpoint.named", name: "here" },
      { type: "thread.redacted", seqs: [0] },
      { type: "turn.annotated", turn: 1, name: "score", value: 1 },
      { type: "thread.forked", from: { threadId: "elsewhere", turn: 1 } },
      { type: "checkpoint.named", name: "here" },
    ],
  },
];
