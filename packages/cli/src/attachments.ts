import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import type { ContentPart } from "@colloquy/machine";
import type { AttachmentPort } from "@colloquy/cli/terminal";
import { readTextFile } from "./text-file.ts";

/** Attaches files that texts name, relative to a folder: `What does @src/main.ts do?`, `What is on @"my photo.png"?`. */
export const attachmentsIn = (folder: string): AttachmentPort => ({
  contentOf: (text) => {
    const words = [...text.matchAll(mention)].map(([, quoted, word = ""]) => quoted ?? word);
    const paths = new Set(words.flatMap((word) => pathIn(folder, word) ?? []));
    return paths.size === 0 ? text : [{ type: "text", text }, ...[...paths].map((path) => partOf(folder, path))];
  },
  pathsFrom: (prefix) => {
    const inside = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    try {
      return readdirSync(resolve(folder, inside), { withFileTypes: true })
        .filter(({ name }) => !name.startsWith(".") && !/[\s"]/.test(name))
        .map((entry) => `${inside}${entry.name}${entry.isDirectory() ? "/" : ""}`)
        .filter((path) => path.startsWith(prefix))
        .toSorted();
    } catch {
      // There is no such folder.
      return [];
    }
  },
});

/** A text in a message, under its name. */
export const attachedText = (name: string, text: string): ContentPart => ({
  type: "text",
  text: `# Attached: ${name}\n\n${text}`,
});

const mention = /(?<=^|\s)@(?:"([^"]+)"|(\S+))/g;

/** Returns the path that a word names; null for one such as `@ada` or `@types/node` that names no file. */
const pathIn = (folder: string, word: string): string | null => {
  // A sentence may end after the name.
  const name = word.replace(/[.,;:!?)]+$/, "");
  const path = [word, name].find((each) => /[\p{L}\p{N}]/u.test(each) && isThere(resolve(folder, each)));
  if (path !== undefined) return path;
  const [first] = /^\/?[^/]+(?=\/)/.exec(name) ?? [];
  if (first !== undefined && (first === "~" || extname(name) !== "" || isThere(resolve(folder, first))))
    throw new Error(`there is no file "${name}" to attach; leave out the @ if you mean something else`);
  return null;
};

const partOf = (folder: string, path: string): ContentPart => {
  const file = resolve(folder, path);
  const kind = imageKinds[extname(path).slice(1).toLowerCase()];
  if (kind === undefined)
    return attachedText(
      path,
      readTextFile(file, ({ size }) => checkSize(path, size, textMax)),
    );
  const stats = statSync(file);
  // Reading a pipe may never end.
  if (!stats.isFile()) throw new Error(`"${path}" is not a file; name one`);
  checkSize(path, stats.size, imageMax);
  return { type: "image", url: `data:${kind};base64,${readFileSync(file, "base64")}` };
};

const isThere = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // No file has such a name.
    return false;
  }
};

/** @throws Error for a file that is larger than a model is likely to accept */
const checkSize = (path: string, size: number, most: number): void => {
  if (size > most)
    throw new Error(
      `"${basename(path)}" has ${size.toLocaleString("en")} bytes; at most ${most.toLocaleString("en")} can be attached`,
    );
};

const textMax = 1_000_000;
const imageMax = 20_000_000;

const imageKinds: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};
