import { join } from "node:path";
import { type CaseFile, parseCase, readRecordings, type RecordedCase } from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";

/** The handmade cases of these tests, one for each feature of recorded conversations. */
export const handmade: CaseFile = await (async () => {
  const [file] = (await readRecordings(join(import.meta.dirname, "handmade"))).cases;
  if (file === undefined) throw new Error("there are no hand-made cases");
  return file;
})();

/** Returns a handmade case, by the end of its id. */
export const handmadeCase = (name: string): RecordedCase => {
  const found = handmade.records.find(({ id }) => id === `handmade/${name}`);
  if (found === undefined) throw new Error(`there is no hand-made case "${name}"`);
  return found;
};

/** Returns a case with the value at a path ("steps.7.content") replaced. */
export const altered = (recorded: RecordedCase, path: string, value: unknown): RecordedCase => {
  const copy: unknown = structuredClone(recorded);
  const keys = path.split(".");
  let holder = copy;
  for (const key of keys.slice(0, -1)) holder = Reflect.get(objectOf(holder, path), key);
  Reflect.set(objectOf(holder, path), keys.at(-1) ?? "", value);
  const parsed = parseCase(copy);
  if (Either.isLeft(parsed)) throw new Error(`${recorded.id}, ${path}: ${parsed.left}`);
  return parsed.right;
};

const objectOf = (value: unknown, path: string): object => {
  if (typeof value !== "object" || value === null) throw new Error(`there is nothing at ${path}`);
  return value;
};
