import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@colloquy/machine";
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { inFolder } from "../kit/folder.ts";
import { randomOf, seedOf } from "../kit/random.ts";
import { corruptions } from "./corruption-kinds.ts";
import { corrupted, type Corruption, kindOf, type RecordKind } from "./corruptions.ts";
import { count, type Report } from "./report.ts";
import { reportsOf } from "./reports.ts";

/** A record as it is in its file, and the other record of the same model call. */
interface Raw {
  readonly record: JsonObject;
  readonly kind: RecordKind;
  readonly file: string;
  readonly companions: readonly Raw[];
}

/**
 * Damages records of a folder, one value at a time, and replays each damaged record with its companions. Damage that
 * passes is a failure, unless its kind cannot be known without the original.
 *
 * @param each How often each kind of damage is done, each time to another record.
 */
export const reportOfCorruptions = async (folder: string, seed: number, each: number): Promise<Report> => {
  const raws = rawRecordsIn(folder);
  const outcomes = new Map<Corruption, { made: number; readonly passed: string[] }>();
  for (const corruption of corruptions) {
    const random = randomOf(seedOf(seed, `${corruption.of}: ${corruption.name}`));
    const candidates = raws.filter(
      ({ kind, companions }) => kind === corruption.of && (corruption.shownBy !== "companion" || companions.length > 0),
    );
    const from = random.integer(0, Math.max(0, candidates.length - 1));
    const outcome = { made: 0, passed: [] as string[] };
    for (const raw of [...candidates.slice(from), ...candidates.slice(0, from)]) {
      if (outcome.made === each) break;
      const damaged = corrupted(raw.record, corruption, random);
      if (damaged === null) continue;
      outcome.made++;
      if (!(await isNoticed(folder, raw, damaged))) outcome.passed.push(String(raw.record["id"]));
    }
    outcomes.set(corruption, outcome);
  }
  return reportOf(outcomes, seed);
};

const reportOf = (
  outcomes: ReadonlyMap<Corruption, { readonly made: number; readonly passed: readonly string[] }>,
  seed: number,
): Report => {
  const all = [...outcomes];
  const knowable = all.filter(([{ unknowable }]) => unknowable === undefined);
  const failures = knowable.flatMap(([{ of, name }, { passed }]) =>
    passed.map((id) => ({ id: `${of}: ${name}`, words: `it passed unnoticed in ${id}` })),
  );
  const made = knowable.reduce((sum, [, outcome]) => sum + outcome.made, 0);
  return {
    title: `corruptions, seed ${seed}`,
    lines: [
      ...all.flatMap(([{ unknowable, of, name }]) =>
        unknowable === undefined ? [] : [`not knowable: ${of}: ${name}: ${unknowable}`],
      ),
      ...knowable.flatMap(([{ of, name }, outcome]) =>
        outcome.made === 0 ? [`no record to damage: ${of}: ${name}`] : [],
      ),
      `noticed: ${count(made - failures.length)} of ${count(made)}`,
    ],
    passed: made - failures.length,
    failures,
    inexpressible: [],
  };
};

/** Whether a replay of the damaged record and its companions fails, or no longer reaches the record. */
const isNoticed = (folder: string, { file, companions }: Raw, damaged: JsonObject): Promise<boolean> =>
  inFolder("corruption", async (into) => {
    for (const common of readdirSync(folder).filter((name) => name.endsWith(".common.json")))
      copyFileSync(join(folder, common), join(into, common));
    writeFileSync(join(into, file), `${JSON.stringify(damaged)}\n`);
    writeFileSync(
      join(into, "companions.jsonl"),
      companions.map(({ record }) => `${JSON.stringify(record)}\n`).join(""),
    );
    for await (const { failures } of reportsOf(await readRecordings(into))) if (failures.length > 0) return true;
    return false;
  });

const rawRecordsIn = (folder: string): readonly Raw[] => {
  const all = readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl"))
    .toSorted()
    .flatMap((file) =>
      readFileSync(join(folder, file), "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "")
        .flatMap((line): Raw[] => {
          // Recordings are JSON objects, one a line; readRecordings has read them before.
          const record = JSON.parse(line) as JsonObject;
          const kind = kindOf(record);
          return kind === null ? [] : [{ record, kind, file, companions: [] }];
        }),
    );
  const byKey = Map.groupBy(
    all.flatMap((raw) => keysOf(raw).map((key) => ({ key, raw }))),
    ({ key }) => key,
  );
  return all.map((raw) => ({
    ...raw,
    companions: [...new Set(keysOf(raw).flatMap((key) => byKey.get(key) ?? []))]
      .map((each) => each.raw)
      .filter((each) => each !== raw),
  }));
};

/** Returns the model calls of a record, so that a case and its exchanges are found by each other. */
const keysOf = ({ record, kind }: Pick<Raw, "record" | "kind">): readonly string[] => {
  if (kind.endsWith("exchange")) return [keyOf(record, record)];
  // The steps of a case are a list of objects.
  const steps = (record["steps"] ?? []) as readonly JsonObject[];
  return steps.flatMap(({ exchange }) =>
    // An exchange that a step names is an object.
    exchange === undefined || exchange === null ? [] : [keyOf(record, exchange as JsonObject)],
  );
};

const keyOf = (record: JsonObject, { cassette, index }: JsonObject): string =>
  `${String(record["source"])}|${String(cassette)}|${String(index)}`;
