import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@colloquy/machine";
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { inFolder } from "../kit/folder.ts";
import { type Random, randomOf, seedOf } from "../kit/random.ts";
import { corruptions } from "./corruption-kinds.ts";
import { corrupted, type Corruption, kindOf, type RecordKind } from "./corruptions.ts";
import { count, type Finding, keyOfCall, type Report } from "./report.ts";
import { reportsOf } from "./reports.ts";

/** An unchanged record of a file, and the other record of the same model call. */
interface Raw {
  readonly record: JsonObject;
  readonly kind: RecordKind;
  readonly file: string;
  readonly companions: readonly Raw[];
}

/**
 * Damages records of a folder, one value at a time, and replays each damaged record with its companions. Damage that
 * passes is a failure, unless its kind cannot be detected without the original.
 *
 * @param each The number of times that each kind of damage is done, each to another record.
 */
export const reportOfCorruptions = async (folder: string, seed: number, each: number): Promise<Report> => {
  const raws = rawRecordsIn(folder);
  const failures: Finding[] = [];
  const unknowable: Finding[] = [];
  const unused: string[] = [];
  let made = 0;
  for (const corruption of corruptions) {
    const id = `${corruption.of}: ${corruption.name}`;
    let tried = 0;
    for (const { raw, damaged } of damagedRecords(raws, corruption, randomOf(seedOf(seed, id)))) {
      if (tried === each) break;
      tried++;
      const reason = corruption.unknowable?.(raw.record) ?? null;
      const isPassed = !(await isNoticed(folder, raw, damaged));
      if (reason !== null) {
        if (isPassed) unknowable.push({ id: `${id}, in ${JSON.stringify(raw.record["id"])}`, words: reason });
        continue;
      }
      made++;
      if (isPassed) failures.push({ id, words: `it passed unnoticed in ${JSON.stringify(raw.record["id"])}` });
    }
    if (tried === 0) unused.push(`no record to damage: ${id}`);
  }
  return {
    title: `corruptions, seed ${seed}`,
    lines: [
      ...unused,
      `noticed: ${count(made - failures.length)} of ${count(made)} that can be noticed; ${count(unknowable.length)} more that cannot be noticed passed`,
    ],
    passed: made - failures.length,
    failures,
    inexpressible: unknowable,
  };
};

/** Damages records of the kind, beginning with a random one. */
function* damagedRecords(
  raws: readonly Raw[],
  corruption: Corruption,
  random: Random,
): Generator<{ readonly raw: Raw; readonly damaged: JsonObject }> {
  const candidates = raws.filter(
    ({ kind, companions }) => kind === corruption.of && (corruption.shownBy !== "companion" || companions.length > 0),
  );
  const from = random.integer(0, Math.max(0, candidates.length - 1));
  for (const raw of [...candidates.slice(from), ...candidates.slice(0, from)]) {
    const damaged = corrupted(raw.record, corruption, random);
    if (damaged !== null) yield { raw, damaged };
  }
}

/** Checks that a replay of the damaged record and its companions fails, or no longer reaches the record. */
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
          // Recordings are JSON objects, one per line, and readRecordings has parsed them.
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

/** Returns keys of the model calls in a record, by which a case and its exchanges find each other. */
const keysOf = ({ record, kind }: Pick<Raw, "record" | "kind">): readonly string[] => {
  if (kind.endsWith("exchange")) return [keyOfCall(record["source"], record)];
  // The steps of a case are objects.
  const steps = (record["steps"] ?? []) as readonly JsonObject[];
  return steps.flatMap(({ exchange }) =>
    // A step's exchange is an object.
    exchange === undefined || exchange === null ? [] : [keyOfCall(record["source"], exchange as JsonObject)],
  );
};
