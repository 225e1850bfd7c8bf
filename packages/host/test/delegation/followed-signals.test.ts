// The signals that a host derives from the journal of another one.
import { expect, test } from "vitest";
import { held, partsOf, queue, says, settle, stage } from "../stage.ts";

test("an ask on a thread that another host holds is shown each refusal of its output, with its number", async () => {
  const model = held();
  const replies = [says('{"n":"one"}'), says("no JSON"), says('{"n":1}')];
  const first = stage({ machine: queue, script: [model.step, ...replies] });
  void first.host.ask("one");
  await settle();
  const second = first.another({ script: [] });
  const schema = { jsonSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } } as const;
  const asked = second.host.ask("two", { output: { name: "number", schema, repairs: 2 } });
  const parts = partsOf(asked);
  await first.clock.advance(400);
  model.answer(says("1"));
  await first.clock.advance(1_000);
  expect((await asked).output).toEqual({ n: 1 });
  const refused = (await parts).flatMap((part) =>
    part.type === "signal" && part.signal.type === "output.refused" ? [part.signal] : [],
  );
  expect(refused).toEqual(
    [1, 2].map((attempt) => ({ type: "output.refused", turn: 2, step: attempt, attempt, issues: 1 })),
  );
});
