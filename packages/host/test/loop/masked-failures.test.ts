import { expect, test } from "vitest";
import { tool, type StandardSchema } from "@colloquy/host";
import { failureReport } from "@colloquy/host/runtime";
import { calls, entriesOf, errorOf, says, stage } from "../stage.ts";

const ofForm = "sk-proj-abc123DEF456ghi789";
const ofHandler = "oddly-formed-of-handler";
const ofApplication = "oddly-formed-of-application";
const url = "postgres://ada:hunter2@db/threads";
const leak = `no access with ${ofForm}, ${ofHandler}, ${ofApplication} at ${url}`;
const leaked = /sk-proj|oddly-formed|hunter2/;

const throwing = (): never => {
  throw new Error(leak);
};
const anything = { jsonSchema: { type: "object" } };

const validator = (validate: StandardSchema["~standard"]["validate"]): StandardSchema => ({
  "~standard": { version: 1, vendor: "test", jsonSchema: { input: () => ({ type: "object" }) }, validate },
});

const subject = { name: "subject", description: "", input: anything, run: () => "ran" };

test.each([
  ["that throws", tool({ ...subject, run: throwing })],
  ["that rejects", tool({ ...subject, run: async () => throwing() })],
  ["that returns what throws when it is read", tool({ ...subject, run: () => ({ toJSON: throwing }) })],
  ["whose validator throws", tool({ ...subject, input: validator(throwing) })],
  ["whose validator quotes it", tool({ ...subject, input: validator(() => ({ issues: [{ message: leak }] })) })],
  ["whose approval throws", tool({ ...subject, approval: throwing })],
  ["that throws a text", tool({ ...subject, run: async () => Promise.reject(leak) })],
  ["that throws an object", tool({ ...subject, run: async () => Promise.reject({ leak }) })],
  [
    "that throws at length",
    tool({
      ...subject,
      run: () => {
        throw new Error(`${"words ".repeat(681)}${ofHandler}`);
      },
    }),
  ],
])("a key never reaches journal, signals or model from a tool %s", async (_, given) => {
  const signals: unknown[] = [];
  const { host, store, model } = stage({
    tools: [given],
    script: [calls(["subject", {}]), says("ok")],
    keys: [ofHandler],
    secrets: () => [ofApplication],
    observers: [{ signal: (signal) => signals.push(signal) }],
  });
  await host.ask("go");
  const journal = JSON.stringify(await entriesOf(store));
  expect(journal).toMatch(/"outcome":"(?:failed|refused)"/);
  for (const text of [journal, JSON.stringify(model.calls), JSON.stringify(signals)]) {
    expect(text).not.toMatch(leaked);
  }
});

test("a key that an output's validator quotes never reaches journal or model", async () => {
  const output = validator(() => ({ issues: [{ message: leak }] }));
  const { host, store, model } = stage({
    script: [says("{}"), says("{}"), says("{}"), says("{}")],
    keys: [ofHandler],
    secrets: () => [ofApplication],
  });
  const error = await errorOf(host.ask("go", { output: { name: "answer", schema: output } }));
  const journal = JSON.stringify(await entriesOf(store));
  expect(journal).toContain("output.refused");
  for (const text of [journal, JSON.stringify(model.calls), String(error)]) {
    expect(text).not.toMatch(leaked);
  }
});

test("a key in the failure of a model handler never reaches journal or caller", async () => {
  const { host, store } = stage({
    script: [{ type: "failed", failure: { kind: "auth", message: leak, retryable: false } }],
    keys: [ofHandler],
    secrets: () => [ofApplication],
  });
  const error = await errorOf(host.ask("go"));
  expect(`${String(error)}${JSON.stringify(await entriesOf(store))}`).not.toMatch(leaked);
});

test("a password in the address of a store is not in the error of an ask", async () => {
  const { host, store } = stage({ script: [] });
  store.append = () => Promise.reject(new Error(`can't connect to ${url}`));
  const error = await errorOf(host.ask("go"));
  expect(String(error)).toContain("can't connect to postgres://[redacted]@db/threads");
});

test("a failure that the caller of a tool reports is journalled without what has the form of a key", async () => {
  const { host, store } = stage({ script: [calls(["mine", {}]), says("ok")] });
  const thread = host.thread("t");
  const asked = thread.ask("go", { tools: [{ name: "mine", description: "", input: anything }] });
  for await (const part of asked)
    if (part.type === "result.requested") await thread.answerTool(part.callId, { failed: `bad ${ofForm} at ${url}` });
  expect(JSON.stringify(await entriesOf(store, "t"))).not.toMatch(leaked);
});

test("the report of a failure has no key of the model handler", () => {
  const lines: string[] = [];
  const { report } = failureReport(
    () => [ofApplication],
    (text) => lines.push(text),
  );
  report(new Error(leak), "beforeStep", [ofHandler]);
  expect(lines.join("\n")).toContain("beforeStep");
  expect(lines.join("\n")).not.toMatch(leaked);
});

test.each<[string, () => readonly string[]]>([
  ["that throw", throwing],
  // A caller in JavaScript may pass these.
  ["that are not a list", () => 7 as never],
  ["that are not texts", () => [null, 7] as never],
])("a tool that fails is answered with secrets %s", async (_, secrets) => {
  const { host, store } = stage({
    tools: [tool({ ...subject, run: throwing })],
    script: [calls(["subject", {}]), says("ok")],
    keys: [ofHandler, ofApplication],
    secrets,
  });
  expect((await host.ask("go")).text).toBe("ok");
  expect(JSON.stringify(await entriesOf(store))).not.toMatch(leaked);
});

test("a result that a tool returns on purpose stays as it is", async () => {
  const { host, store } = stage({
    tools: [tool({ ...subject, run: () => leak })],
    script: [calls(["subject", {}]), says("ok")],
  });
  await host.ask("go");
  expect((await entriesOf(store))[3]?.event).toMatchObject({ content: leak });
});
