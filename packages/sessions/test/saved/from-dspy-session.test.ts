import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type DspySession, fromDspySession, scoreOf, session } from "../../src/index.ts";
import { answering, asked } from "../question-answerer.ts";

/** A file as `Session.save_state` of dspy-session writes it today: it always excludes its history field. */
const second = {
  version: 2,
  history_field: "history",
  max_turns: 3,
  max_stored_turns: null,
  copy_mode: "deep",
  exclude_fields: ["history", "context"],
  history_input_fields: ["question"],
  history_policy: "override",
  turns: [
    { index: 0, inputs: { question: "Q0", context: "long" }, outputs: { answer: "A0" }, score: null },
    { index: 1, inputs: { question: "Q1", context: "long" }, outputs: { answer: "A1" }, score: 0.5 },
  ],
  initial_history: { messages: [{ question: "Hi", answer: "Hello!" }] },
  l2_memory: "",
  node_states: {},
};

const { history_input_fields: inputFields, version: _, ...others } = second;
const { max_stored_turns: __, copy_mode: ___, l2_memory: ____, node_states: _____, ...ofFirst } = others;

/** A file of version 1, with another name for the input fields and fewer settings. */
const first = { ...ofFirst, version: 1, input_field_override: inputFields };

/** The file of a session without options or calls. */
const untouched = {
  version: 2,
  history_field: "history",
  max_turns: null,
  max_stored_turns: null,
  copy_mode: "deep",
  exclude_fields: ["history"],
  history_input_fields: null,
  history_policy: "override",
  turns: [],
  initial_history: null,
};

/** The state of one user as `SessionState.to_dict` writes it, with the history of each turn. */
const ofUser = {
  version: 1,
  turns: second.turns.map((turn) => ({ ...turn, history_snapshot: { messages: [] } })),
  initial_history: null,
  l2_memory: "",
  node_states: {},
};

const read = (json: unknown): DspySession => {
  const session = fromDspySession(json);
  if (Either.isLeft(session)) throw new Error(session.left);
  return session.right;
};

describe("what dspy-session saved", () => {
  test.each([
    { version: 2, file: second },
    { version: 1, file: first },
    { version: "none, which is 1", file: { ...first, version: undefined } },
  ])("97: of version $version is loaded with its turns, scores, seed and options", async ({ file }) => {
    const { saved, options, losses } = read(file);
    expect(losses).toEqual([]);
    expect(options).toEqual({ maxTurns: 3, excludeFields: ["context"], onlyInputFields: ["question"] });
    const { qa, seen } = answering(["A2"], options);
    const loaded = await qa.load(saved, { threadId: "ada" });
    const turns = await loaded.turns();
    expect(turns.map(({ inputs, outputs }) => ({ inputs, outputs }))).toEqual(
      second.turns.map(({ inputs, outputs }) => ({ inputs, outputs })),
    );
    expect(turns.map(scoreOf)).toEqual([null, 0.5]);
    await asked(loaded, 1, 2);
    expect(seen[0]?.exchanges.map(({ turn, inputs, outputs }) => ({ turn, inputs, outputs }))).toEqual([
      { turn: 0, inputs: { question: "Hi" }, outputs: { answer: "Hello!" } },
      { turn: 1, inputs: { question: "Q0" }, outputs: { answer: "A0" } },
      { turn: 2, inputs: { question: "Q1" }, outputs: { answer: "A1" } },
    ]);
  });

  test("is the same each time it is read", () => {
    expect(read(second)).toEqual(read(structuredClone(second)));
    const { journal } = read(second).saved;
    expect(journal.map(({ event }) => `${event.type} ${event.at}`)).toEqual([
      "thread.started 0",
      "turn.added 0",
      "turn.added 0",
      "turn.annotated 0",
    ]);
  });

  test("of one user is loaded, and says that the snapshots are made anew", async () => {
    const { saved, losses } = read(ofUser);
    expect(losses).toEqual(["history_snapshot of 2 turns: each turn is shown what the turns before it say"]);
    expect(await (await answering([]).qa.load(saved)).turns()).toHaveLength(2);
  });

  test.each([
    { of: "version 2", file: second },
    { of: "version 1", file: first },
    { of: "a session without options", file: untouched },
    { of: "a user's state", file: ofUser },
    {
      of: "a program whose own history field is chat",
      file: { ...second, history_field: "chat", exclude_fields: ["context", "history", "chat"] },
    },
    {
      of: "a session that was told to show its history field",
      file: { ...second, history_input_fields: ["question", "history"] },
    },
  ])("the options of $of suit a session with a signature", async ({ file }) => {
    const { saved, options } = read(file);
    const signature = {
      inputs: z.strictObject({ question: z.string(), context: z.string().optional() }),
      outputs: z.strictObject({ answer: z.string() }),
    };
    const qa = session(() => ({ answer: "A" }), { name: "qa", signature, ...options });
    const loaded = await qa.load(saved);
    expect((await loaded.turns()).map(({ inputs }) => inputs.question)).toEqual(
      file.turns.map(({ inputs }) => inputs.question),
    );
    const shown = JSON.stringify((await loaded.memory()).exchanges);
    expect(shown.includes("long")).toBe("history_snapshot" in (file.turns[0] ?? {}));
    await qa.close();
  });

  test("a field called history that turns really have stays excluded", () => {
    const turns = [{ index: 0, inputs: { question: "Q", history: "of Rome" }, outputs: { answer: "A" }, score: null }];
    expect(read({ ...second, history_field: "chat", turns }).options.excludeFields).toEqual(["history", "context"]);
  });

  test.each([
    { change: { version: 999 }, says: "version 999 of dspy-session can't be read; versions 1 and 2 can" },
    { change: { version: "2" }, says: 'version "2" of dspy-session' },
    { change: { turns: [{ inputs: {}, outputs: 7 }] }, says: '"turns.0.outputs": ' },
    { change: { max_turns: -1 }, says: '"max_turns": ' },
    { change: { turns: "none" }, says: "it is not a session of dspy-session" },
    { change: { turns: undefined }, says: "it is not a session of dspy-session" },
  ])("97: is refused in words for $change", ({ change, says }) => {
    const refused = fromDspySession({ ...second, ...change });
    expect(Either.isLeft(refused) ? refused.left : "").toContain(says);
  });

  test.each([null, "text", [], 7])("refuses %j, which is not a session", (json) => {
    expect(Either.isLeft(fromDspySession(json))).toBe(true);
  });

  test("says what could not be carried over, or means something else", () => {
    const { losses } = read({
      ...second,
      max_turns: 0,
      max_stored_turns: 0,
      history_input_fields: [],
      history_policy: "use_if_provided",
      turns: [3, 3].map((index) => ({ index, inputs: {}, outputs: {} })),
      l2_memory: "Ada likes tea.",
      node_states: { planner: { version: 1 } },
    });
    expect(losses.map((loss) => loss.split(":")[0])).toEqual([
      "index 3, 3",
      "initial_history",
      'history_policy "use_if_provided"',
      "max_turns 0",
      "max_stored_turns 0",
      "history_input_fields []",
      "l2_memory",
      "node_states planner",
    ]);
  });

  test("refuses in words what no journal could keep", () => {
    const nested: unknown = JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`);
    const file = { ...second, turns: [{ inputs: { question: nested }, outputs: {} }] };
    expect(fromDspySession(file)).toMatchObject({
      left: expect.stringMatching(/^it is not a session of dspy-session: turns\.0\.inputs\.question.*nested too deep/),
    });
  });
});
