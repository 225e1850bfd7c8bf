// Tables of cases from the test suites of other projects: which cases they check, as data of our own. The first line of
// a table names its source, each further line is a case. A player plays `given` and returns the views that `expect`
// names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@colloquy/machine";
import {
  fails,
  never,
  type Piece,
  type ScriptedModel,
  type ScriptLine,
  streams,
  viewPrompt,
} from "@colloquy/runtime-test/models";
import { z } from "zod";

const json = z.json();
const object = z.record(z.string(), json);

const head = z.strictObject({ repository: z.string().regex(/^[\w-]+\/[\w.-]+$/), commit: z.string().length(40) });

const row = z.strictObject({
  case: z.string(),
  /** The test of theirs: `file: test`. */
  source: z.string().regex(/^[\w./-]+: ./),
  /** Why our answer is another than theirs. `expect` is ours. */
  differs: z.string().optional(),
  given: object,
  expect: object.refine((views) => Object.keys(views).length > 0, "a case that expects nothing cannot fail"),
});

/** Plays a case. Returns the named views of what happened. */
export type Player = (given: unknown, views: readonly string[]) => Promise<JsonObject>;

export const tableOf = (peer: string) => {
  const [first = "", ...lines] = readFileSync(join(import.meta.dirname, `${peer}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  return { ...head.parse(JSON.parse(first)), rows: lines.map((line) => row.parse(JSON.parse(line))) };
};

/** Reads the views that a case names. */
export const viewed = async (
  all: Readonly<Record<string, () => unknown>>,
  names: readonly string[],
): Promise<JsonObject> => {
  const views: [string, z.infer<typeof json>][] = [];
  for (const name of names) {
    const view = all[name];
    if (view === undefined) throw new Error(`there is no view "${name}"`);
    views.push([name, json.parse(JSON.parse(JSON.stringify((await view()) ?? null)))]);
  }
  return Object.fromEntries(views);
};

const call = z.tuple([z.string(), json]).rest(z.string());
const piece = z.union([
  z.string(),
  z.strictObject({ reasoning: z.string() }),
  z.strictObject({ refusal: z.string() }),
  z.strictObject({ call }),
]);

/** A call of the model: a text, or its pieces and its end. */
export const line = z.union([
  z.string(),
  z.strictObject({
    say: z.array(piece).default([]),
    finish: z.string().optional(),
    usage: z.tuple([z.number(), z.number()]).optional(),
    fails: z.enum(["auth", "bad_request", "overloaded"]).optional(),
    never: z.literal(true).optional(),
  }),
]);

export const scriptLine = (given: z.infer<typeof line>): ScriptLine => {
  if (typeof given === "string") return streams([given]);
  const pieces = given.say.map(pieceOf);
  if (given.fails !== undefined) return fails({ kind: given.fails }, { partial: pieces });
  if (given.never) return never({ pieces });
  const [inputTokens, outputTokens] = given.usage ?? [];
  return streams(pieces, {
    ...(given.finish === undefined ? {} : { finishReason: given.finish }),
    ...(inputTokens === undefined || outputTokens === undefined ? {} : { usage: { inputTokens, outputTokens } }),
  });
};

const pieceOf = (given: z.infer<typeof piece>): string | Piece => {
  if (typeof given === "string" || !("call" in given)) return given;
  const [name, input, id] = given.call;
  return { toolCall: { name, arguments: input, ...(id === undefined ? {} : { id }) } };
};

/** Returns the messages of each call of the model: role and text. */
export const promptsOf = (model: ScriptedModel): readonly (readonly string[])[] =>
  model.calls.map(({ messages }) =>
    viewPrompt(messages).messages.map(({ role, text }) => (text === "" ? role : `${role}: ${text}`)),
  );
