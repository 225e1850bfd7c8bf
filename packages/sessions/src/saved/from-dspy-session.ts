import { conversationMachine, type Entry, type SeedDraft, start, transition } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { type DspyFile, dspyFile, versioned } from "./dspy-file.ts";
import { partsOf } from "../program/fields.ts";
import { type SavedSession, savedSession } from "./saved-session.ts";

/** A session of dspy-session, for `session` and `load`. */
export interface DspySession {
  /** Its turns with their scores, and its initial history as the seed: for `load`. */
  readonly saved: SavedSession;
  /** How it was configured: to be spread into the options of `session`. */
  readonly options: DspyOptions;
  /** What could not be carried over, or means something else here, in words. Empty where nothing is. */
  readonly losses: readonly string[];
}

/** The options of `session` that a file of dspy-session says. */
export interface DspyOptions {
  readonly maxTurns?: number;
  readonly maxStoredTurns?: number;
  readonly excludeFields?: readonly string[];
  readonly onlyInputFields?: readonly string[];
}

/**
 * Reads what dspy-session saved, as parsed JSON: its sessions of versions 1 and 2 (`Session.save`), and its states of users
 * (`SessionState.save`). Others, and what is no session, are refused in words. What each turn saw is made anew from the
 * turns before it, as dspy-session does in loading.
 *
 * @param options `at` stands for all times, which the file does not have, in milliseconds since the epoch. Default 0.
 */
export const fromDspySession = (
  json: unknown,
  { at = 0 }: { readonly at?: number } = {},
): Either.Either<string, DspySession> => {
  const plain = plainCopy(json, mostNestedInFile);
  if (plain instanceof NotPlain)
    return Either.left(`it is no session of dspy-session: ${describeValueProblem(plain.problem, "the file")}`);
  const head = versioned.safeParse(plain);
  const version = head.data?.version ?? 1;
  if (version !== 1 && version !== 2)
    return Either.left(`version ${JSON.stringify(version)} of dspy-session can't be read; versions 1 and 2 can`);
  const read = dspyFile.safeParse(plain);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? "" : `"${issue.path.join(".")}": `;
    return Either.left(`it is no session of dspy-session: ${where}${issue?.message ?? "it can't be read"}`);
  }
  const file = read.data;
  return Either.right({ saved: savedSession(journalOf(file, at)), options: optionsOf(file), losses: lossesOf(file) });
};

/** An entry holds what is said in it a few levels deeper than the file does, and is refused where that is too deep. */
const mostNestedInFile = 200;

/** The journal of a thread whose turns were added by hand. */
const journalOf = ({ turns, initial_history: history }: DspyFile, at: number): readonly Entry[] => {
  const machine = conversationMachine();
  const isOutput = outputNamesIn(turns);
  const seed = (history?.messages ?? []).flatMap((message) => {
    const named = Object.entries(message);
    const inputs = named.filter(([name]) => !isOutput.has(name));
    return exchange(Object.fromEntries(inputs), Object.fromEntries(named.filter(([name]) => isOutput.has(name))));
  });
  const begun = start(machine, { threadId: "dspy-session", at, seed });
  const entries: Entry[] = [begun.entry];
  let { state } = begun;
  for (const [index, { inputs, outputs, score }] of turns.entries()) {
    const added = { type: "turn.added", at, messages: exchange(inputs, outputs) } as const;
    const scored = { type: "turn.annotated", at, turn: index + 1, name: "score", value: score ?? null } as const;
    for (const event of score == null ? [added] : [added, scored]) {
      const step = transition(machine, state, event);
      if (!step.handled) throw new Error(`turn ${index}: ${step.refusal.reason}`);
      entries.push(step.entry);
      state = step.state;
    }
  }
  return entries;
};

const outputNamesIn = (turns: DspyFile["turns"]): ReadonlySet<string> =>
  new Set(turns.flatMap(({ outputs }) => Object.keys(outputs)));

const exchange = (inputs: Fields, outputs: Fields): readonly SeedDraft[] => [
  { role: "user", content: partsOf(inputs) },
  ...(Object.keys(outputs).length === 0 ? [] : [{ role: "assistant", content: partsOf(outputs) } as const]),
];

const optionsOf = (file: DspyFile): DspyOptions => {
  const { max_turns: maxTurns, max_stored_turns: maxStoredTurns, exclude_fields: excludeFields } = file;
  const onlyInputFields = file.history_input_fields ?? file.input_field_override;
  return {
    ...(maxTurns == null ? {} : { maxTurns }),
    ...(maxStoredTurns == null ? {} : { maxStoredTurns }),
    ...(excludeFields == null ? {} : { excludeFields }),
    ...(onlyInputFields == null ? {} : { onlyInputFields }),
  };
};

const lossesOf = (file: DspyFile): readonly string[] => {
  const { turns, initial_history: history, history_policy: policy, l2_memory: memory, node_states: nodes } = file;
  const indexes = turns.map(({ index }, place) => index ?? place);
  const snapshots = turns.filter(({ history_snapshot: snapshot }) => snapshot != null).length;
  const children = Object.keys(nodes ?? {});
  const losses: readonly (readonly [boolean, string])[] = [
    [indexes.some((index, place) => index !== place), `index ${indexes.join(", ")}: turns are numbered from 1 here`],
    [snapshots > 0, `history_snapshot of ${snapshots} turns: what a turn saw is made anew from the turns before it`],
    [
      (history?.messages ?? []).length > 0 && outputNamesIn(turns).size === 0,
      "initial_history: without a turn it is not known which fields are outputs, so all of them are inputs",
    ],
    [
      policy != null && policy !== "override",
      `history_policy ${JSON.stringify(policy)}: here each call says so, with the history that it gives`,
    ],
    [file.max_turns === 0, "max_turns 0: no turn is shown here, where dspy-session shows all of them"],
    [file.max_stored_turns === 0, "max_stored_turns 0: no turn is kept here, where dspy-session keeps all of them"],
    [
      optionsOf(file).onlyInputFields?.length === 0,
      "history_input_fields []: no input is shown here, where dspy-session shows all of them when it has loaded the file",
    ],
    [memory != null && memory !== "", "l2_memory: what was consolidated is not carried over"],
    [children.length > 0, `node_states ${children.join(", ")}: sessions of nested programs are not carried over`],
  ];
  return losses.flatMap(([isLost, words]) => (isLost ? words : []));
};

type Fields = DspyFile["turns"][number]["inputs"];
