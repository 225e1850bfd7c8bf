// News of an engine, as a host over it shows them.
import { expect, test } from "vitest";
import { engineStage } from "../engine.ts";
import { overriding } from "../gated-store.ts";
import { held, says, settle, stage } from "../stage.ts";

test("news of a turn whose start is known are shown at once, and without a read of the journal", async () => {
  const model = held();
  const there = engineStage({ script: [says("1"), model.step] });
  const { clock } = there.worker;
  let reads = 0;
  const store = overriding(there.store, {
    ...(there.store.engine === undefined ? {} : { engine: there.store.engine }),
    read: (...given) => (reads++, there.store.read(...given)),
  });
  const { host } = stage({ store, clock });
  const one = host.ask("one");
  await clock.advance(1_000);
  await one;
  const two = host.ask("two");
  const texts: string[] = [];
  void (async () => {
    for await (const part of two) if (part.type === "text.delta") texts.push(part.text);
  })();
  await clock.advance(1_000);
  reads = 0;
  for (const word of ["a", "b", "c"]) {
    model.show(word);
    await settle();
  }
  expect([texts, reads]).toEqual([["a", "b", "c"], 0]);
  model.answer(says("abc"));
  await clock.advance(1_000);
  await host.close();
});

test("a host that hears the news of an engine reads the journal only at each fifth poll", async () => {
  const there = engineStage({ script: [held().step] });
  const { clock } = there.worker;
  const reads: number[] = [];
  const store = overriding(there.store, {
    ...(there.store.engine === undefined ? {} : { engine: there.store.engine }),
    read: (...given) => (reads.push(clock.now()), there.store.read(...given)),
  });
  const { host } = stage({ store, clock, pollMs: 100 });
  host.ask("one").catch(() => {});
  await clock.advance(1_000);
  reads.length = 0;
  await clock.advance(2_000);
  const times = [...new Set(reads)];
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([500, 500, 500]);
  await host.close();
});
