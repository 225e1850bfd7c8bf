import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { type FileChange, reasonOf } from "@colloquy/cli/terminal";
import type { Json } from "@colloquy/machine";
import { structuredPatch } from "diff";
import { readTextFile } from "./text-file.ts";

/**
 * Describes how a call of a tool would change a file of a folder, if its arguments name one, and a new text for all of
 * it or for parts of it. Null for other arguments. A file outside of the folder is not read, nor through a link.
 */
export const fileChangesIn =
  (folder: string) =>
  (value: Json): FileChange | null => {
    const given = objectOf(value);
    const path = pathNames.map((name) => given[name]).find((each) => typeof each === "string");
    const edits = editsIn(given);
    if (path === undefined || edits.length === 0) return null;
    try {
      return changeOf(path, edits, textIn(folder, path));
    } catch (thrown) {
      return { title: `${path} is not compared: ${reasonOf(thrown)}`, lines: [] };
    }
  };

/** A new text for a part of a file, or for all of it. */
interface Edit {
  /** The old text of the part; null for all of the file. */
  readonly from: string | null;
  readonly to: string;
  /** The argument that has the new text. */
  readonly by: string;
  /** Whether each occurrence of the old text is replaced. */
  readonly isOfAll: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

const pathNames = ["path", "file", "file_path", "filePath", "filename"];
const wholeNames = ["content", "contents", "text", "file_text"];
const partNames = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["old_text", "new_text"],
  ["oldString", "newString"],
  ["oldText", "newText"],
] as const;

const objectOf = (value: unknown): Arguments => (typeof value === "object" && value !== null ? { ...value } : {});

/** Returns the edits in arguments: beside the path, or in a list. */
const editsIn = (given: Arguments): readonly Edit[] => {
  const parts = [given, ...(Array.isArray(given["edits"]) ? given["edits"].map(objectOf) : [])].flatMap((each) =>
    partNames.flatMap(([old, renewed]): readonly Edit[] => {
      const [from, to] = [each[old], each[renewed]];
      const isOfAll = each["replace_all"] === true || each["replaceAll"] === true;
      return typeof from !== "string" || typeof to !== "string" ? [] : [{ from, to, by: `"${renewed}"`, isOfAll }];
    }),
  );
  const whole = wholeNames.find((name) => typeof given[name] === "string");
  if (parts.length > 0 || whole === undefined) return parts;
  return [{ from: null, to: String(given[whole]), by: `"${whole}"`, isOfAll: false }];
};

/** Returns the text of a file; null if there is none yet. @throws Error for one that is not shown */
const textIn = (folder: string, path: string): string | null => {
  if (lstatSync(resolve(folder, path), { throwIfNoEntry: false }) === undefined) return null;
  const file = realpathSync(resolve(folder, path));
  if (isOutside(relative(realpathSync(folder), file))) throw new Error("it is outside of this folder");
  return readTextFile(file, ({ size }) => {
    if (size > textMax) throw new Error(`it has ${size.toLocaleString("en")} bytes`);
  });
};

const isOutside = (path: string): boolean => path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);

const changeOf = (path: string, edits: readonly Edit[], before: string | null): FileChange => {
  if (before === null) return { title: `${path} does not exist yet`, lines: [] };
  if (edits.length > editsMax) throw new Error(`the call has ${edits.length.toLocaleString("en")} edits`);
  let after = before;
  for (const { from, to, isOfAll } of edits) {
    if (from === null) after = to;
    else if (from === "" || !after.includes(from)) return { title: `${path} does not have the old text`, lines: [] };
    else after = isOfAll ? after.replaceAll(from, () => to) : after.replace(from, () => to);
    // Edits that replace each other's text double it with every one.
    if (after.length > textMax) throw new Error(`it would have more than ${textMax.toLocaleString("en")} characters`);
  }
  if (after === before) return { title: `${path} has this text already`, lines: [] };
  const patch = structuredPatch("", "", before, after, "", "", { context: 2, maxEditLength: differencesMax });
  if (patch === undefined) return { title: `${path} would become another text: too much differs`, lines: [] };
  const lines = patch.hunks.flatMap(({ oldStart, lines: each }) => [`@@ line ${oldStart}`, ...each]);
  return { title: `${path}, if ${edits[0]?.by} is written to it:`, lines };
};

const textMax = 1_000_000;
const editsMax = 100;
/** Finding more differences would take long. */
const differencesMax = 500;
