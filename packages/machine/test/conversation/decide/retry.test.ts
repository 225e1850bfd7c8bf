import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Failure,
  type FailureKind,
  lastTurnOf,
  type Retry,
  textOf,
} from "../../../src/index.ts";
import { Talk } from "../../talk.ts";

const retry: Retry = {
  attempts: 4,
  baseDelayMs: 1_000,
  maxDelayMs: 3_000,
  maxRetryAfterMs: 10_000,
  kinds: ["rate_limit", "network"],
};

/** When the call is made again after a first failure, counted from it; null when it is not. */
const delayAfter = (failure: Partial<Failure>, options: Partial<Retry> = {}): number | null => {
  const talk = new Talk(conversationMachine({ retry: { ...retry, ...options } }));
  talk.ask("Hello");
  const { entry } = talk.fail({ kind: "network", retryable: true, ...failure });
  return entry.decided?.retry === undefined ? null : entry.decided.retry.dueAt - entry.event.at;
};

describe("a call that failed", () => {
  test("is made again after half to all of a delay that doubles, up to its bound", () => {
    const talk = new Talk(conversationMachine({ retry }));
    talk.ask("Hello");
    for (const delay of [1_000, 2_000, 3_000]) {
      const { entry } = talk.fail({ kind: "network", retryable: true });
      const waited = (entry.decided?.retry?.dueAt ?? 0) - entry.event.at;
      expect(waited).toBeGreaterThanOrEqual(delay / 2);
      expect(waited).toBeLessThanOrEqual(delay);
      talk.fire("retry");
    }
    talk.fail({ kind: "network", retryable: true });
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, usage: { calls: 4 }, outcome: { status: "failed" } });
  });

  test("waits the same in every replay, and otherwise in another thread", () => {
    const dueIn = (threadId: string) => {
      const talk = new Talk(conversationMachine({ retry }), { threadId });
      talk.ask("Hello");
      return talk.fail({ kind: "network", retryable: true }).entry.decided?.retry?.dueAt;
    };
    expect(dueIn("a")).toBe(dueIn("a"));
    expect(new Set(["a", "b", "c", "d", "e"].map(dueIn)).size).toBeGreaterThan(1);
  });

  test.each<readonly [number, number | null]>([
    [0, null],
    [9_999, 9_999],
    [10_000, 10_000],
    [10_001, null],
  ])("waits as long as the server asks (%i ms), or is not made again", (retryAfterMs, delay) => {
    const waited = delayAfter({ retryAfterMs });
    expect(retryAfterMs === 0 ? waited !== null && waited >= 500 : waited === delay).toBe(true);
  });

  const kinds: readonly FailureKind[] = ["rate_limit", "network", "overloaded", "auth", "unknown"];
  test.each(kinds)("is made again if its kind (%s) is worth it, and it says so itself", (kind) => {
    expect(delayAfter({ kind }) !== null).toBe(retry.kinds.includes(kind));
    expect(delayAfter({ kind, retryable: false })).toBeNull();
  });

  test("is not made again where one attempt is all there is", () => {
    expect(delayAfter({}, { attempts: 1 })).toBeNull();
  });

  test("is made again at once where the delay is 0", () => {
    expect(delayAfter({}, { baseDelayMs: 0 })).toBe(0);
  });

  test("carries, when it is made again, what was appended since", () => {
    const talk = new Talk(conversationMachine({ retry }));
    const append = (content: string) => talk.tell({ type: "message.appended", message: { role: "user", content } });
    talk.ask("Hello");
    append("while it was out");
    expect(talk.call().messages.map(textOf)).toEqual(["Hello"]);
    talk.fail({ kind: "network", retryable: true });
    append("while it waited");
    talk.fire("retry");
    expect(talk.call().messages.map(textOf)).toEqual(["Hello", "while it was out", "while it waited"]);
  });
});
