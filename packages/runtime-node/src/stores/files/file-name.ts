import { StorageError } from "@colloquy/host/store";

/**
 * Returns the file name of an id, valid on every file system. Lowercase letters, digits, `_` and `-` are kept, and all
 * other bytes are percent-encoded, so that no two names differ only in case or in the encoding of an accent. A name
 * that would be too long is cut and ends with the id's digest. It contains no dot. Throws `StorageError` for an id with
 * half of a surrogate pair, which has no UTF-8 bytes.
 */
export const nameOf = (id: string): string => {
  if (!id.isWellFormed()) {
    throw new StorageError(
      "invalid-id",
      `files store: the id ${JSON.stringify(id)} holds half of a surrogate pair, which no file name can keep; choose another id.`,
    );
  }
  const name = encoded(id);
  if (name.length <= nameLengthMax) return name;
  // Loaded by the first long id, since an import takes a tenth of ours.
  const digest = process.getBuiltinModule("node:crypto").createHash("sha256").update(id).digest("hex");
  return `${name.slice(0, shortenedLength).replace(/%.?$/, "")}${shortenedMark}${digest}`;
};

/** Returns the id of a file name; null for a name that was shortened or that no id has. */
export const idOf = (name: string): string | null => {
  if (name === emptyName) return "";
  try {
    const id = decodeURIComponent(name);
    return nameOf(id) === name ? id : null;
  } catch {
    return null;
  }
};

export const journalEnding = ".jsonl";

/** The ending of a file that contains the id of a thread with a shortened name. */
export const idEnding = ".id";

/** Checks whether a name was shortened, so that it does not contain the whole id. */
export const isShortened = (name: string): boolean => name.includes(shortenedMark);

const encoded = (id: string): string => {
  if (id === "") return emptyName;
  const bytes = Buffer.from(id);
  const name = Array.from(bytes, (byte, index) => {
    const character = String.fromCharCode(byte);
    // Most commands take a name that starts with a hyphen for an option.
    const stands = index === 0 ? /[a-z0-9_]/ : /[a-z0-9_-]/;
    return stands.test(character) ? character : percent(byte);
  }).join("");
  // Windows reserves these names for devices, with any ending.
  return /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(name) ? `${percent(name.charCodeAt(0))}${name.slice(1)}` : name;
};

const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** Marks that no encoded byte looks like. */
const emptyName = "%";
const shortenedMark = "%-";

/** File systems allow 255 bytes, including endings. */
const nameLengthMax = 200;
const shortenedLength = 120;
