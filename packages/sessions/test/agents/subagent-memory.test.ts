import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../test/runs.ts";
import { hostOf, pair } from "./agents.ts";

type Act =
  | { readonly type: "ask"; readonly words: number }
  | { readonly type: "undo" | "redo" | "clear" | "checkpoint" | "restore" | "fork" }
  | { readonly type: "turnTo"; readonly thread: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant("ask" as const), words: fc.integer({ min: 1, max: 2 }) }) },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom("undo", "redo", "clear", "checkpoint", "restore", "fork")
      .map((type) => ({ type }) as const),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("turnTo" as const), thread: fc.nat(3) }) },
);

/** A model of a thread that calls the helper in each turn. A turn stores all that the helper had heard by its end. */
class PlainThread {
  readonly turns: { readonly parent: number; readonly heard: readonly string[] }[];
  head: number;
  place: number | null;

  constructor(turns: PlainThread["turns"] = [], head = 0, place: number | null = null) {
    this.turns = turns;
    this.head = head;
    this.place = place;
  }

  ask(words: readonly string[]): string {
    const before = this.turns[this.head - 1]?.heard ?? [];
    this.turns.push({ parent: this.head, heard: [...before, ...words] });
    this.head = this.turns.length;
    return words.map((_, index) => [...before, ...words.slice(0, index + 1)].join(",")).join(" | ");
  }

  undo(): void {
    this.head = this.turns[this.head - 1]?.parent ?? 0;
  }

  redo(): void {
    const next = this.turns.findLastIndex(({ parent }) => parent === this.head);
    if (next >= 0) this.head = next + 1;
  }

  fork(): PlainThread {
    const place = this.place !== null && this.place <= this.head ? this.place : null;
    return new PlainThread(this.turns.slice(0, this.head), this.head, place);
  }
}

test("whatever is undone, restored and forked, a subagent knows what its caller's path has of it", async () => {
  const everyAct = fc.array(act, { minLength: 4, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(everyAct, async (acts) => {
      const { host } = await hostOf(pair("parent"));
      const plain = [new PlainThread()];
      const answers: string[] = [];
      const expected: string[] = [];
      let at = 0;
      let word = 0;
      for (const each of acts) {
        const thread = host.thread(`t${at}`);
        const model = plain[at] ?? new PlainThread();
        const isBegun = (await thread.state()) !== null;
        if (each.type === "ask") {
          const words = Array.from({ length: each.words }, () => `w${word++}`);
          answers.push((await thread.ask(words.join(" "))).text);
          expected.push(model.ask(words));
        } else if (each.type === "turnTo") {
          at = each.thread % plain.length;
        } else if (!isBegun) {
          continue;
        } else if (each.type === "fork") {
          await thread.fork({ threadId: `t${plain.length}` });
          at = plain.push(model.fork()) - 1;
        } else if (each.type === "checkpoint") {
          await thread.checkpoint("place");
          model.place = model.head;
        } else if (each.type === "restore") {
          if (model.place === null) continue;
          await thread.restore("place");
          model.head = model.place;
        } else if (each.type === "clear") {
          await thread.clear();
          model.head = 0;
        } else {
          await thread[each.type]();
          model[each.type]();
        }
      }
      expect(answers).toEqual(expected);
    }),
    { numRuns: runs(60) },
  );
});
