import { expect, test } from "vitest";
import { asked, questions, seeing } from "../programs.ts";

test("a thread that was deleted begins as any does, with the seed and the name of its program", async () => {
  const { qa, seen } = seeing({ seed: [{ inputs: { q: "Hi" }, outputs: { a: "Hello!" } }] });
  await asked(qa, 1);
  await qa.thread.delete();
  await asked(qa, 2);
  expect(seen.map(questions)).toEqual([[[0, "Hi"]], [[0, "Hi"]]]);
  expect((await qa.thread.state())?.context.metadata).toMatchObject({ program: "qa", version: "1" });
});

test("the journal says so, too, when the program before comes back", async () => {
  const { qa } = seeing({ version: "1" });
  await asked(qa, 1);
  for (const version of ["2", "1"]) {
    qa.swap(() => ({ a: version }), { version });
    await asked(qa, 2);
    expect((await qa.thread.state())?.context.metadata["version"]).toBe(version);
  }
});
