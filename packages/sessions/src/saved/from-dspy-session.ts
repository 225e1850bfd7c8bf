import { checkOptions, kinds } from "@colloquy/host/store";
import type { Entry, Event, SeedDraft } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import { type Fields, partsOf } from "../program/exchange.ts";
import { journalOf } from "../turns/journal.ts";
import { type SavedSession, savedSession } from "./saved-session.ts";

/** A session from dspy-session, for `session` and `load`. */
export interface DspySession {
  /** Its turns with their scores, and its initial history as the seed, for `load`. */
  readonly saved: SavedSession;
  /** Its configuration, to spread into the options of `session`. */
  readonly options: DspyOptions;
  /** Descriptions of data that could not be converted, or that have another meaning here. Empty if there are none. */
  readonly losses: readonly string[];
}

/** The options of `session` in a file of dspy-session. */
export interface DspyOptions {
  readonly maxTurns?: number;
  readonly maxStoredTurns?: number;
  readonly excludeFields?: readonly string[];
  readonly onlyInputFields?: readonly string[];
}

/**
 * Reads a file of dspy-session, as parsed JSON: a session of version 1 or 2 (`Session.save`), or the state of a user
 * (`SessionState.save`). Returns Left with the reason if it is neither. The prompt of each turn is made from the turns
 * before it, as dspy-session does when it loads a file.
 *
 * @param options `at` is used for all times, which the file does not contain, in milliseconds since the epoch. Default
 * 0.
 * @throws ConfigurationError for an invalid `at`
 */
export const fromDspySession = (
  json: unknown,
  options: { readonly at?: number } = {},
): Either.Either<string, DspySession> => {
  checkOptions("fromDspySession", options, { at: kinds.whole(0) });
  const { at = 0 } = options;
  const plain = plainCopy(json, mostNestedInFile);
  if (plain instanceof NotPlain)
    return Either.left(`it is not a session of dspy-session: ${describeValueProblem(plain.problem, "the file")}`);
  const head = versioned.safeParse(plain);
  const version = head.data?.version ?? 1;
  if (version !== 1 && version !== 2)
    return Either.left(`version ${JSON.stringify(version)} of dspy-session can't be read; versions 1 and 2 can`);
  const read = dspyFile.safeParse(plain);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? "" : `"${issue.path.join(".")}": `;
    return Either.left(`it is not a session of dspy-session: ${where}${issue?.message ?? "it can't be read"}`);
  }
  const file = read.data;
  return Either.map((journal: readonly Entry[]) => ({
    saved: savedSession(journal),
    options: optionsOf(file),
    losses: lossesOf(file),
  }))(threadOf(file, at));
};

/** An entry nests the content a few levels deeper than the file does, and is refused if it is too deep. */
const mostNestedInFile = 200;

/** Makes the journal of a thread whose turns were added by hand. */
const threadOf = ({ turns, initial_history: history }: DspyFile, at: number): ReturnType<typeof journalOf> => {
  const isOutput = outputNamesIn(turns);
  const seed = (history?.messages ?? []).flatMap((message) => {
    const named = Object.entries(message);
    const inputs = named.filter(([name]) => !isOutput.has(name));
    return exchange(Object.fromEntries(inputs), Object.fromEntries(named.filter(([name]) => isOutput.has(name))));
  });
  const events = turns.flatMap(({ inputs, outputs, score }, index): readonly Event[] => [
    { type: "turn.added", at, messages: exchange(inputs, outputs) },
    ...(score == null ? [] : [{ type: "turn.annotated", at, turn: index + 1, name: "score", value: score } as const]),
  ]);
  return journalOf({ threadId: "dspy-session", at, seed }, events);
};

const outputNamesIn = (turns: DspyFile["turns"]): ReadonlySet<string> =>
  new Set(turns.flatMap(({ outputs }) => Object.keys(outputs)));

const exchange = (inputs: Fields, outputs: Fields): readonly SeedDraft[] => [
  { role: "user", content: partsOf(inputs) },
  ...(Object.keys(outputs).length === 0 ? [] : [{ role: "assistant", content: partsOf(outputs) } as const]),
];

const optionsOf = (file: DspyFile): DspyOptions => {
  const { max_turns: maxTurns, max_stored_turns: maxStoredTurns } = file;
  const isHistory = historyFieldsOf(file);
  const excluded = (file.exclude_fields ?? []).filter((field) => !isHistory(field));
  const only = (file.history_input_fields ?? file.input_field_override)?.filter((field) => !isHistory(field));
  return {
    ...(maxTurns == null ? {} : { maxTurns }),
    ...(maxStoredTurns == null ? {} : { maxStoredTurns }),
    ...(excluded.length === 0 ? {} : { excludeFields: excluded }),
    ...(only === undefined ? {} : { onlyInputFields: only }),
  };
};

/**
 * Returns a test for the fields that contain the history in dspy-session. A session here has no such field, and
 * dspy-session always excludes its own: the one that the file names, and also "history" if its program renamed it. A
 * field that occurs in a turn is data.
 */
const historyFieldsOf = ({ history_field: named, turns, initial_history: history }: DspyFile) => {
  const said = [...turns.flatMap(({ inputs, outputs }) => [inputs, outputs]), ...(history?.messages ?? [])];
  return (field: string): boolean =>
    (field === "history" || field === named) && !said.some((fields) => Object.hasOwn(fields, field));
};

const lossesOf = (file: DspyFile): readonly string[] => {
  const { turns, initial_history: history, history_policy: policy, l2_memory: memory, node_states: nodes } = file;
  const indexes = turns.map(({ index }, place) => index ?? place);
  const snapshots = turns.filter(({ history_snapshot: snapshot }) => snapshot != null).length;
  const children = Object.keys(nodes ?? {});
  const losses: readonly (readonly [boolean, string])[] = [
    [indexes.some((index, place) => index !== place), `index ${indexes.join(", ")}: turns are numbered from 1 here`],
    [snapshots > 0, `history_snapshot of ${snapshots} turns: each turn is shown what the turns before it say`],
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

const fields = z.record(z.string(), z.json());
const count = z.int().nonnegative().nullish();
const names = z.array(z.string()).nullish();

/**
 * The schema of a file from dspy-session whose version is known to be supported: `Session.save` in version 2 (version 1
 * had `input_field_override` in place of `history_input_fields`), or `SessionState.save` in its own version 1, with the
 * history of each turn.
 */
const dspyFile = z.looseObject({
  // The input that contains the history in dspy-session.
  history_field: z.string().nullish(),
  max_turns: count,
  max_stored_turns: count,
  exclude_fields: names,
  history_input_fields: names,
  input_field_override: names,
  history_policy: z.string().nullish(),
  turns: z.array(
    z.looseObject({
      index: z.number().optional(),
      inputs: fields,
      outputs: fields,
      score: z.number().nullish(),
      history_snapshot: z.unknown().optional(),
    }),
  ),
  initial_history: z.looseObject({ messages: z.array(fields) }).nullish(),
  l2_memory: z.string().nullish(),
  node_states: z.record(z.string(), z.unknown()).nullish(),
});

type DspyFile = z.infer<typeof dspyFile>;

/** The schema of any file, read before the rest. A file without a version counts as version 1. */
const versioned = z.looseObject({ version: z.unknown().optional() });
