import { compactTurns } from "@colloquy/machine/policies";

import {
  answered as replied,
  appended,
  ask as asked,
  calling,
  failed,
  fired,
  timed,
  type Untimed,
  withheld,
} from "./stories/events.ts";
import { dataOf } from "./machine.ts";
import type { Script } from "./vector.ts";

/** Summaries that are asked for, come and fail where drawn scripts hardly ever have one. */
export const summaryScripts = (): readonly Script[] => [
  {
    ...beginning("summary-after-retry", 80, 1),
    says: "When a call is made again, its prompt no longer fits: it waits for a summary, which fails.",
    steps: steps([
      ...oneTurn,
      ask("b", 40),
      failed("t/2.1#1"),
      appended(words(60)),
      fired("t/2.1#2!retry"),
      failed("t/summary-1#1", { retryable: false }),
    ]),
  },
  {
    ...beginning("summary-after-denial", 96, 1),
    says: "After a call is denied, the next prompt does not fit: it waits for a summary, which comes.",
    steps: steps([
      ...oneTurn,
      ask("b", 40),
      ...waiting,
      { type: "approval.answered", effectId: "t/2.1.0!approval-1", approved: false, reason: words(60) },
      answered("t/summary-1#1", 10),
    ]),
  },
  {
    ...beginning("summary-while-approving", 100, 0.5),
    says: "A summary comes while a person is asked whether a tool may run.",
    steps: steps([...oneTurn, ask("b", 20), ...waiting, answered("t/summary-1#1", 10)]),
  },
  {
    ...beginning("summary-fails-while-approving", 100, 0.5),
    says: "A summary fails while a person is asked whether a tool may run.",
    steps: steps([...oneTurn, ask("b", 20), ...waiting, failed("t/summary-1#1")]),
  },
  {
    ...beginning("summary-while-backing-off", 100, 0.5),
    says: "A summary comes while a failed call waits to be made again.",
    steps: steps([...oneTurn, ask("b", 20), failed("t/2.1#1"), answered("t/summary-1#1", 10)]),
  },
  {
    ...beginning("summary-fails-while-backing-off", 100, 0.5),
    says: "A summary fails while a failed call waits to be made again.",
    steps: steps([...oneTurn, ask("b", 20), failed("t/2.1#1"), failed("t/summary-1#1")]),
  },
  {
    ...beginning("summary-called-off-by-an-ask", 100, 0.5),
    says: "An ask opens its turn at the beginning: the summary of the turns that leave the path is called off.",
    steps: steps([...oneTurn, { type: "ask.received", askId: "b", input: "Anew.", from: 0 }]),
  },
];

const beginning = (name: string, tokens: number, at: number): Omit<Script, "says" | "steps"> => ({
  profile: "policies",
  name,
  machine: dataOf({
    policy: compactTurns({ keepTurns: 0, at, maxTokens: 12, requestTokens: 4_000, instruction: "Sum it up." }),
    budget: { tokens, reserve: 0 },
    tools: [{ name: "pay", approval: "always" }],
    retry: { baseDelayMs: 0 },
  }),
  start: { threadId: "t", at: 0 },
});

const steps = (events: readonly Untimed[]): Script["steps"] => timed(events).map((event) => ({ event }));

/** So many characters, a token for each four. */
const words = (characters: number): string => "word ".repeat(characters / 5);

const ask = (askId: string, characters: number): Untimed => asked(askId, words(characters));
const answered = (effectId: string, characters: number): Untimed => replied(effectId, words(characters));

const oneTurn: readonly Untimed[] = [ask("a", 100), answered("t/1.1#1", 60)];

const waiting: readonly Untimed[] = [calling("t/2.1#1", "pay"), withheld("t/2.1.0#1")];
