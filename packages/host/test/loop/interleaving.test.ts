import { fc, test } from "@fast-check/vitest";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import type { AskHandle, Host, LlmOutcome } from "@colloquy/host";
import { runs } from "../runs.ts";
import { calls, echo, says, settle, stage } from "../stage.ts";

/** The kinds of events that can happen at any time; `pick` chooses the target among those that exist. */
type Happening =
  | { readonly type: "ask" | "crash" | "close" }
  | { readonly type: "abort" | "say" | "callTools" | "fail"; readonly pick: number }
  | { readonly type: "wait"; readonly ms: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ type: "ask" } as const) },
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom("say", "callTools", "fail", "abort"), pick: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("wait" as const), ms: fc.nat(8_000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("crash", "close") }) },
);

const failure = { kind: "overloaded", message: "busy", retryable: true } as const;

test("whatever happens in whatever order, every ask is settled, and the journal gives the state", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (happenings) => {
      const waiting: ((outcome: LlmOutcome) => void)[] = [];
      const script = Array.from({ length: 200 }, () => () => new Promise<LlmOutcome>((answer) => waiting.push(answer)));
      const machine = { overlap: { type: "queue", max: 3 } } as const;
      const first = stage({ owner: "same", machine, tools: [echo], script });
      const handles: AskHandle[] = [];
      let host: Host = first.host;
      const answer = (pick: number, outcome: LlmOutcome): void => {
        const [chosen] = waiting.splice(pick % Math.max(1, waiting.length), 1);
        chosen?.(outcome);
      };
      for (const now of happenings) {
        if (now.type === "ask") handles.push(host.ask("hi"));
        else if (now.type === "abort") handles[now.pick % Math.max(1, handles.length)]?.abort();
        else if (now.type === "say") answer(now.pick, says("done"));
        else if (now.type === "callTools") answer(now.pick, calls(["echo", { text: "a" }], ["echo", {}], ["nope", {}]));
        else if (now.type === "fail") answer(now.pick, { type: "failed", failure });
        else if (now.type === "wait") await first.clock.advance(now.ms);
        else {
          if (now.type === "close") await host.close();
          host = first.another().host;
        }
        if (now.type !== "ask") await settle();
      }
      // The thread is used once more, so that what a crash left is taken up; then everything is answered.
      const last = host.ask("last", { askId: "last" });
      const settled = Promise.allSettled([...handles, last]);
      await settle();
      for (let round = 0; round < 60 && (waiting.length > 0 || first.clock.sleepers > 0); round++) {
        await first.clock.advance(60_000);
        answer(0, says("done"));
        await settle();
      }
      const outcomes = await settled;
      expect(outcomes).toHaveLength(handles.length + 1);
      const entries = decodeJournal(await first.store.read("default"));
      if (Either.isLeft(entries)) throw new Error("unreadable");
      expect(fold(entries.right)).toEqual(Either.right(await host.thread().state()));
      await host.close();
      expect(first.clock.sleepers).toBe(0);
    }),
    { numRuns: runs(600) },
  );
});
