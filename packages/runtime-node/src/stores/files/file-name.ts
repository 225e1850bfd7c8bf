import { createHash } from "node:crypto";

import { StorageError } from "@colloquy/host/store";

/**
 * The name under which an id is kept, the same on every file system: small inbox items, digits, `_` and `-` stand for
 * themselves, all else is percent-encoded, so that no two names differ in case or in the way an accent is written.
 * A name that would be too long is cut, and ends in the id's digest. It holds no dot. Throws `StorageError` for an
 * id with half of a surrogate pair, which has no bytes of its own.
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
  return `${name.slice(0, shortenedLength).replace(/%.?$/, "")}${shortenedMark}${createHash("sha256").update(id).digest("hex")}`;
};

/** The id that has this name; null for a name that no id has, and for one that was shortened. */
export const idOf = (name: string): string | null => {
  if (name === emptyName) return "";
  try {
    const id = decodeURIComponent(name);
    return nameOf(id) === name ? id : null;
  } catch {
    return null;
  }
};

/** Whether a name does not show its id. */
export const isShortened = (name: string): boolean => name.includes(shortenedMark);

const encoded = (id: string): string => {
  if (id === "") return emptyName;
  const bytes = Buffer.from(id);
  const name = Array.from(bytes, (byte, index) => {
    const character = String.fromCharCode(byte);
    // A name that begins with a hyphen looks like an option to most commands.
    const stands = index === 0 ? /[a-z0-9_]/ : /[a-z0-9_-]/;
    return stands.test(character) ? character : percent(byte);
  }).join("");
  // Windows gives these names to devices, whatever ending they have.
  return /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(name) ? `${percent(name.charCodeAt(0))}${name.slice(1)}` : name;
};

const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** No encoded byte looks like these. */
const emptyName = "%";
const shortenedMark = "%-";

/** File systems take 255 bytes, endings and an inbox item's number included. */
const nameLengthMax = 200;
const shortenedLength = 120;
