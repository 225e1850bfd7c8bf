import { ConfigurationError } from "@colloquy/machine";
import { memoryStore, systemClock } from "@colloquy/runtime-node";
import { expect, test } from "vitest";
import { z } from "zod";
import { session, type SessionOptions } from "../../src/index.ts";
import { asked, seeing } from "../programs.ts";

const schema = z.object({ q: z.string() });

/** Makes a session as a caller in JavaScript could. */
const made = (options: object) =>
  // Cast: these options are of any type.
  session(() => ({}), { name: "qa", ...options } as SessionOptions<object, object, object, object> & {
    readonly signature?: undefined;
  });

test.each<readonly [object, string]>([
  [{ name: undefined }, 'session needs the option "name", and it is missing'],
  [{ name: "" }, "session: name must be a text that is not empty (got an empty text)"],
  [{ version: 2 }, "session: version must be a text that is not empty (got 2)"],
  [{ signature: { inputs: schema } }, "session: signature must be { inputs, outputs }, each a Standard Schema"],
  [{ signature: { inputs: "string", outputs: schema } }, "session: signature must be { inputs, outputs }"],
  [{ store: {} }, "session: store must be a store, such as memoryStore()"],
  [{ threadId: "" }, "session: threadId must be a text that is not empty"],
  [{ seed: [{ inputs: {} }] }, "session: seed must be a list of { inputs, outputs }, both objects"],
  [{ seed: [{ inputs: {}, outputs: "A" }] }, "session: seed must be a list of { inputs, outputs }, both objects"],
  [{ seed: [null] }, "session: seed must be a list of { inputs, outputs }, both objects"],
  [{ maxTurns: -1 }, "session: maxTurns must be a whole number ≥ 0 (got -1)"],
  [{ maxStoredTurns: 0.5 }, "session: maxStoredTurns must be a whole number ≥ 0 (got 0.5)"],
  [{ excludeFields: "q" }, "session: excludeFields must be"],
  [{ onlyInputFields: [7] }, "session: onlyInputFields must be"],
  [{ compression: "brief" }, 'session: compression must be "concise", "verbose" or { instruction } (got "brief")'],
  [{ compression: { instruction: 7 } }, 'session: compression must be "concise", "verbose" or { instruction }'],
  [{ summariser: "s" }, "session: summariser must be a function (got a text)"],
  [{ describe: 7 }, "session: describe must be a function (got 7)"],
  [{ overlap: "wait" }, 'session: overlap must be "queue" or "reject" (got "wait")'],
  [{ lifespan: "short" }, "session: lifespan must be"],
  [{ consolidate: () => "" }, 'session: consolidate is for episodes, and the lifespan is "persistent"'],
  [{ consolidate: () => "", lifespan: "shared" }, 'the lifespan is "shared"; make it "episodic"'],
  [{ onTurn: 7 }, "session: onTurn must be a function (got 7)"],
  [{ llm: "gpt" }, "session: llm must be a function (got a text)"],
  [{ tools: [{}] }, "session: tools must be"],
  [{ host: 7 }, "session: host must be an object of options of createHost, without llm, machine, store"],
  [{ host: { store: memoryStore() } }, "session: host must be an object of options of createHost, without llm"],
  [{ compression: "concise" }, "session: compression has turns summarised, and nothing is there to do it"],
  [{ max_turns: 3 }, 'session has no option "max_turns"'],
])("session rejects the options %j", (options, says) => {
  expect(() => made(options)).toThrow(ConfigurationError);
  expect(() => made(options)).toThrow(says);
});

test("session accepts each valid option", async () => {
  for (const options of [
    { signature: { inputs: schema, outputs: z.object({}) } },
    { host: { clock: systemClock } },
    { compression: "concise", summariser: () => "" },
    { compression: { instruction: "In a word." }, summariser: () => "" },
    { lifespan: "episodic", consolidate: () => "" },
    { maxTurns: 0, maxStoredTurns: 0 },
  ])
    await made(options).close();
});

test("session and swap reject a program that is not a function, and a version that is not a text", async () => {
  // @ts-expect-error no program
  expect(() => session({ run: () => ({}) }, { name: "qa" })).toThrow(
    'session: the program is of type object; it must be a function, or an object with a method "forward"',
  );
  const { qa } = seeing();
  // @ts-expect-error no program
  expect(() => qa.swap("p")).toThrow("the program is of type string");
  // @ts-expect-error no text
  expect(() => qa.swap(() => ({ a: "B" }), { version: 2 })).toThrow("swap: version must be a text");
  expect(await qa.call({ q: "Q" })).toEqual({ a: "A" });
});

test("undo and redo accept only a whole number of calls", async () => {
  const { qa } = seeing();
  expect([await qa.undo(), await qa.redo(), await qa.pop()]).toEqual([[], [], null]);
  await asked(qa, 1, 2);
  for (const calls of [-1, 0.5, Number.NaN]) {
    await expect(qa.undo(calls)).rejects.toThrow(`undo: the number of calls is ${calls}; it must be a whole number`);
    await expect(qa.redo(calls)).rejects.toThrow(`redo: the number of calls is ${calls}; it must be a whole number`);
  }
  expect([await qa.undo(0), await qa.redo(0), await qa.count()]).toEqual([[], [], 2]);
  expect((await qa.undo(9)).map(({ number }) => number)).toEqual([2, 1]);
  expect((await qa.redo(2)).map(({ number }) => number)).toEqual([2, 1]);
});

test("swap without a version increments the number at the end of the current one", async () => {
  const { qa } = seeing({ version: "v9" });
  const versions: unknown[] = [];
  for (const number of [1, 2]) {
    qa.swap(() => ({ a: "B" }));
    await asked(qa, number);
    versions.push((await qa.thread.state())?.context.metadata["version"]);
  }
  expect(versions).toEqual(["v10", "v11"]);
});
