import { type StandardSchema, tool } from "@colloquy/host";
import { expect, test } from "vitest";
import { toolRegistry } from "../../src/tools/registry.ts";
import { settle } from "../stage.ts";

const made = (more: object = {}) =>
  tool({ name: "t", description: "", input: { jsonSchema: {} }, run: () => null, ...more });

/** Returns why a tool cannot have such an input; null if it can. */
const problemOf = (input: unknown): string | null => {
  try {
    made({ input });
    return null;
  } catch (thrown) {
    return String(thrown);
  }
};

/** Returns the slots for the calls of a tool. */
const slotsOf = (concurrency: number) => {
  const limited = made({ concurrency });
  const slots = toolRegistry([limited], [limited.declaration]).get("t")?.slots;
  if (slots === undefined || slots === null) throw new Error("no slots");
  return slots;
};

test("calls of a tool get its slots in order, each at once or when one is given back", async () => {
  const slots = slotsOf(2);
  const begun: string[] = [];
  const calls = ["a", "b", "c", "d", "e"].map((name) => () => void begun.push(name));
  for (const call of calls) slots.take(call);
  expect(begun).toEqual(["a", "b"]);
  // The third call leaves the queue.
  const [first, second, third, fourth] = calls;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined)
    throw new Error("few");
  slots.giveBack(third);
  await settle();
  expect(begun).toEqual(["a", "b"]);
  slots.giveBack(first);
  expect(begun).toEqual(["a", "b"]);
  await settle();
  expect(begun).toEqual(["a", "b", "d"]);
  for (const call of [second, fourth]) slots.giveBack(call);
  await settle();
  expect(begun).toEqual(["a", "b", "d", "e"]);
  // One slot is free.
  for (const name of ["f", "g"]) slots.take(() => void begun.push(name));
  expect(begun).toEqual(["a", "b", "d", "e", "f"]);
});

test("a tool without a concurrency has no slots, so all its calls run at once", () => {
  const unlimited = made();
  expect(toolRegistry([unlimited], [unlimited.declaration]).get("t")?.slots).toBeNull();
});

test.each([
  ["version", { version: "2" }, '"2"'],
  ["approval", { approval: "always" }, '"always"'],
  ["approval", { approval: () => true }, '"conditional"'],
  ["recovery", { recovery: "once" }, '"once"'],
  ["timeoutMs", { timeoutMs: 5 }, "5"],
  ["concurrency", { concurrency: 5 }, "5"],
  ["description", { description: "other" }, '"other"'],
  ["parameters", { input: { jsonSchema: { type: "object" } } }, '{"type":"object"}'],
])("a host refuses a tool whose %s differs from the declared one: %j", (member, more, words) => {
  const given = made(more);
  expect(() => toolRegistry([given], [made().declaration])).toThrow(`declares ${member} of the tool "t" as`);
  expect(() => toolRegistry([given], [made().declaration])).toThrow(`the host has ${words}; declare declarationsOf`);
  expect(toolRegistry([given], [given.declaration]).size).toBe(1);
});

test("a tool is made of a schema only if its arguments may be an object", () => {
  const types = [undefined, "object", ["null", "object"], ["null", "array"], "array"];
  const made = types.map((type) => problemOf({ jsonSchema: type === undefined ? {} : { type } }));
  const refused = expect.stringContaining("input must be the schema of an object");
  expect(made).toEqual([null, null, null, refused, refused]);
});

test("a tool takes a schema that is a function, as some libraries make them, and nothing without a schema", () => {
  const standard: StandardSchema["~standard"] = {
    version: 1,
    vendor: "own",
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ $schema: "x", type: "object" }) },
  };
  const input = Object.assign(() => {}, { "~standard": standard });
  expect(made({ input })).toMatchObject({ schema: input, declaration: { parameters: { type: "object" } } });
  expect(made().schema).toBeNull();
  for (const wrong of [{}, () => {}, "~standard", 7])
    expect(problemOf(wrong)).toContain("input must be a Standard Schema");
});

test("a tool asks whether a call needs an approval only if it has a function for that", () => {
  const approval = (): boolean => true;
  expect(made({ approval })).toMatchObject({ needsApproval: approval, declaration: { approval: "conditional" } });
  expect(made({ approval: "always" })).toMatchObject({ needsApproval: null, declaration: { approval: "always" } });
  expect(made().needsApproval).toBeNull();
  expect(made().declaration).not.toHaveProperty("approval");
});
