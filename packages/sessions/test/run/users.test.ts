import { ConfigurationError } from "@colloquy/machine";
import { expect, test } from "vitest";
import { asked, questions, seeing, sessionOf } from "../programs.ts";

test("a user whose id looks like the thread of a nested program has a thread of its own", async () => {
  const { qa: child, seen } = seeing({ name: "child" });
  const parent = sessionOf((inputs) => child.call(inputs), { name: "parent" });
  await asked(parent.user("ada"), 1);
  await asked(parent.user("ada/child"), 2);
  expect(seen.map(questions)).toEqual([[], []]);
  const questionsOf = async (session: typeof child) => (await session.turns()).map(({ inputs }) => inputs.q);
  expect(await questionsOf(parent.user("ada/child"))).toEqual(["Q2"]);
  expect(await questionsOf(child.under(parent.user("ada")))).toEqual(["Q1"]);
  const ids = ["a", "a/b", "a%2Fb", "a%b", "a:b"].map((id) => parent.user(id).thread.id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("an id that is missing or empty is refused: all of these users would share a thread", () => {
  const { qa } = seeing();
  for (const id of ["", undefined, null, 7])
    // @ts-expect-error -- no text, as a caller in JavaScript may hand in
    expect(() => qa.user(id)).toThrow(ConfigurationError);
});
