import { fc, test } from "@fast-check/vitest";
import { turnsOf } from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import { type AskHandle, memoryStore, type Store } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { entriesOf, manualClock, says, settle, stage } from "../stage.ts";
import { runs } from "../runs.ts";

type Happening =
  | { readonly type: "ask"; readonly host: number; readonly again: boolean }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "abort"; readonly pick: number }
  | { readonly type: "stand" | "goOn" | "close"; readonly host: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant("ask" as const), host: fc.nat(1), again: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("wait" as const), ms: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("abort" as const), pick: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom("stand" as const, "goOn" as const), host: fc.nat(1) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("close" as const), host: fc.nat(1) }) },
);

/** A store as one process sees it, that can be made to stand still, as in a process that was stopped, and to continue. */
const stoppable = (inner: Store): { readonly store: Store; readonly stand: () => void; readonly goOn: () => void } => {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const { inbox } = inner;
  if (inbox === undefined) throw new Error("no inbox");
  const through =
    <Given extends readonly unknown[], Answer>(method: (...given: Given) => Answer | Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await gate.promise;
      return method(...given);
    };
  return {
    stand: () => {
      gate.resolve();
      gate = Promise.withResolvers();
    },
    goOn: () => gate.resolve(),
    store: overriding(inner, {
      acquire: through((...given) => inner.acquire(...given)),
      renew: through((...given) => inner.renew(...given)),
      release: through((...given) => inner.release(...given)),
      append: through((...given) => inner.append(...given)),
      read: through((...given) => inner.read(...given)),
      inbox: {
        post: through((...given) => inbox.post(...given)),
        unanswered: through((...given) => inbox.unanswered(...given)),
        answer: through((...given) => inbox.answer(...given)),
        answerTo: through((...given) => inbox.answerTo(...given)),
        discard: through((...given) => inbox.discard(...given)),
      },
    }),
  };
};

test("two hosts ask on one thread, stand still and go on: each ask has one outcome, and stands in the journal once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 25 }), async (happenings) => {
      const clock = manualClock();
      const inner = memoryStore({ clock });
      const machine = { overlap: { type: "queue", max: 100 } } as const;
      const script = Array.from({ length: 300 }, () => async () => {
        await new Promise<void>((resolve) => clock.wakeAt(clock.now() + 700, resolve));
        return says("done");
      });
      let drawn = 0;
      const ids = { draw: (kind: string) => `${kind}-${++drawn}` };
      const hosts = ["one", "two"].map(() => {
        const process = stoppable(inner);
        const made = stage({
          clock,
          ids,
          store: process.store,
          machine,
          script,
          leaseTtlMs: 3_000,
          idleMs: 500,
        });
        return { ...process, ...made };
      });
      const handles: AskHandle[] = [];
      const closed = new Set<number>();
      for (const now of happenings) {
        const [one, two] = hosts;
        if (one === undefined || two === undefined) throw new Error("there are two");
        const of = "host" in now && now.host === 1 ? two : one;
        if (now.type === "ask") {
          const askId = now.again && handles.length > 0 ? `ask-${handles.length - 1}` : `ask-${handles.length}`;
          handles.push(of.host.ask("hi", { askId }));
        } else if (now.type === "wait") await clock.advance(now.ms);
        else if (now.type === "abort") handles[now.pick % Math.max(1, handles.length)]?.abort();
        else if (now.type === "stand") of.stand();
        else if (now.type === "goOn") of.goOn();
        else {
          closed.add(now.host);
          void of.host.thread().close();
        }
      }
      const settled = Promise.allSettled(handles);
      for (const { goOn } of hosts) goOn();
      await clock.advance(200_000);
      const outcomes = await Promise.race([settled, settle().then(() => "some wait for ever")]);
      expect(outcomes).not.toBe("some wait for ever");

      const entries = decodeJournal(await inner.read("default"));
      if (Either.isLeft(entries)) throw new Error("unreadable");
      const asked = (await entriesOf(inner)).flatMap(({ event }) =>
        event.type === "ask.received" ? [event.askId] : [],
      );
      expect(asked).toEqual([...new Set(asked)]);
      if (entries.right.length > 0) {
        const state = fold(entries.right);
        if (Either.isLeft(state)) throw new Error(state.left.reason);
        const answered = new Map(turnsOf(state.right).flatMap((turn) => turn.asks.map((ask) => [ask.askId, turn])));
        const results = await settled;
        for (const [index, handle] of handles.entries()) {
          const result = results[index];
          const turn = answered.get(handle.askId);
          if (result?.status === "fulfilled") {
            expect(turn).toMatchObject({ number: result.value.turn, outcome: { status: "completed" } });
          } else {
            // Nothing else may come of an ask than what somebody here did to it.
            const names = ["TurnCancelledError", "ThreadClosedError", "AskRefusedError"];
            if (closed.size === 0) names.pop();
            expect(names).toContain(result?.reason instanceof Error ? result.reason.name : "no error");
          }
        }
      }
      for (const { host } of hosts) await host.close();
      expect(clock.sleepers).toBe(0);
      expect(await inner.inbox?.unanswered("default")).toEqual([]);
    }),
    { numRuns: runs(300) },
  );
});
