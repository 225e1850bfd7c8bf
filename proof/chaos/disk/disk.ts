import type { Random } from "../../kit/random.ts";

/** Flushes that the disk ignores, as if the store omitted them. */
export const faults = {
  files: "no file is flushed before it is acknowledged or replaces another",
  parent: "the parent of the store's folder is not flushed",
  folder: "the store's folder, the list of its files, is not flushed",
} as const;

export type Fault = keyof typeof faults;

/**
 * A disk that keeps flushed data, and of the rest what a power cut leaves. It learns of all file operations, and
 * promises no more than POSIX: flushing a file saves its bytes, and flushing a folder saves its list of files.
 */
export interface SimulatedDisk {
  readonly root: Folder;
  readonly write: (file: DiskFile, at: number, bytes: Buffer) => void;
  readonly truncate: (file: DiskFile, length: number) => void;
  readonly make: (folder: Folder, name: string, node: DiskNode) => void;
  readonly remove: (folder: Folder, name: string) => void;
  /** Renames within a folder, atomically: exactly one of the names exists. */
  readonly rename: (folder: Folder, name: string, newName: string) => void;
  readonly flush: (node: DiskNode) => void;
  /** Returns the content after a power cut. The disk itself continues, and may be cut again in another way. */
  readonly cut: (random: Random) => Left;
}

export type DiskNode = DiskFile | Folder;

export interface DiskFile {
  readonly kind: "file";
  /** The bytes that a reader finds now. */
  bytes: Buffer;
  safe: Buffer;
  pending: Change[];
}

type Change = { readonly at: number; readonly bytes: Buffer } | { readonly length: number };

export interface Folder {
  readonly kind: "folder";
  readonly name: string;
  readonly names: Map<string, DiskNode>;
  safe: ReadonlyMap<string, DiskNode>;
  pending: Renaming[];
}

/** Names of a folder that change together. */
interface Renaming {
  readonly number: number;
  readonly names: readonly (readonly [name: string, node: DiskNode | null])[];
}

/** The rest of a folder after a cut: names, and the files and folders under them. */
export type Left = ReadonlyMap<string, Left | Buffer>;

export const newFile = (): DiskFile => ({ kind: "file", bytes: nothing, safe: nothing, pending: [] });

export const newFolder = (name: string): Folder => ({
  kind: "folder",
  name,
  names: new Map(),
  safe: new Map(),
  pending: [],
});

const nothing = Buffer.alloc(0);

export const simulatedDisk = (left: Left, fault: Fault | null): SimulatedDisk => {
  const root = folderOf("", left);
  let count = 0;
  const change = (folder: Folder, names: Renaming["names"]): void => {
    for (const [name, node] of names)
      if (node === null) folder.names.delete(name);
      else folder.names.set(name, node);
    folder.pending.push({ number: count++, names });
  };
  return {
    root,
    write: (file, at, bytes) => {
      file.bytes = withBytes(file.bytes, at, bytes);
      file.pending.push({ at, bytes: Buffer.from(bytes) });
    },
    truncate: (file, length) => {
      file.bytes = Buffer.from(file.bytes.subarray(0, length));
      file.pending.push({ length });
    },
    make: (folder, name, node) => change(folder, [[name, node]]),
    remove: (folder, name) => change(folder, [[name, null]]),
    rename: (folder, name, newName) =>
      change(folder, [
        [name, null],
        [newName, folder.names.get(name) ?? null],
      ]),
    flush: (node) => {
      if (fault !== null && leavesOut[fault](node)) return;
      if (node.kind === "file") node.safe = node.bytes;
      else node.safe = new Map(node.names);
      node.pending = [];
    },
    cut: (random) => {
      // Like a file system's journal: all changes up to one of them, or any of them.
      const inOrder = random.percent(50);
      const last = random.integer(-1, count);
      const share = random.integer(0, 100);
      const isKept = ({ number }: Renaming): boolean => (inOrder ? number <= last : random.percent(share));
      return leftOf(root, isKept, random);
    },
  };
};

const leavesOut: Readonly<Record<Fault, (node: DiskNode) => boolean>> = {
  files: ({ kind }) => kind === "file",
  parent: (node) => node.kind === "folder" && node.name === "",
  folder: (node) => node.kind === "folder" && node.name === "threads",
};

const folderOf = (name: string, left: Left): Folder => {
  const names = new Map(Array.from(left, ([each, inside]): [string, DiskNode] => [each, nodeOf(each, inside)]));
  return { kind: "folder", name, names, safe: new Map(names), pending: [] };
};

const nodeOf = (name: string, inside: Left | Buffer): DiskNode =>
  isFolder(inside) ? folderOf(name, inside) : { kind: "file", bytes: inside, safe: inside, pending: [] };

export const isFolder = (inside: Left | Buffer): inside is Left => inside instanceof Map;

const leftOf = ({ safe, pending }: Folder, isKept: (change: Renaming) => boolean, random: Random): Left => {
  const names = new Map(safe);
  for (const renaming of pending.filter(isKept))
    for (const [name, node] of renaming.names)
      if (node === null) names.delete(name);
      else names.set(name, node);
  return new Map(
    Array.from(names, ([name, node]) => [
      name,
      node.kind === "file" ? bytesLeft(node, random) : leftOf(node, isKept, random),
    ]),
  );
};

/** Returns a file's content after a cut: none of the unflushed writes, all, the first ones, or some blocks. */
const bytesLeft = ({ safe, pending }: DiskFile, random: Random): Buffer => {
  const way = random.integer(0, 3);
  if (pending.length === 0 || way === 0) return safe;
  if (way === 3) return blocksLeft(safe, pending, random);
  const all = pending.reduce((sum, change) => sum + ("bytes" in change ? change.bytes.length : 0), 0);
  let room = way === 1 ? all : random.integer(0, all);
  let left = safe;
  for (const change of pending) {
    if ("bytes" in change) {
      const bytes = change.bytes.subarray(0, room);
      room -= bytes.length;
      if (bytes.length > 0) left = withBytes(left, change.at, bytes);
    } else if (room > 0 || way === 1) left = left.subarray(0, change.length);
  }
  return left;
};

const blocksLeft = (safe: Buffer, pending: readonly Change[], random: Random): Buffer => {
  const block = random.percent(50) ? 512 : 4096;
  const share = random.integer(10, 90);
  const written: (readonly [number, number])[] = [[0, safe.length]];
  let left = safe;
  let size = safe.length;
  for (const change of pending) {
    if ("length" in change) {
      if (random.percent(share)) left = left.subarray(0, change.length);
      continue;
    }
    const end = change.at + change.bytes.length;
    // The size may be on the disk before the bytes are.
    if (random.percent(50)) size = Math.max(size, end);
    for (let from = change.at; from < end;) {
      const until = Math.min(end, (Math.floor(from / block) + 1) * block);
      if (random.percent(share)) {
        left = withBytes(left, from, change.bytes.subarray(from - change.at, until - change.at));
        written.push([from, until]);
      }
      from = until;
    }
  }
  const bytes = Buffer.alloc(Math.max(left.length, size));
  left.copy(bytes);
  if (random.percent(50)) scribble(bytes, written, random);
  return bytes;
};

/** Fills bytes that were never written at random, since the disk may have any content there. */
const scribble = (bytes: Buffer, written: readonly (readonly [number, number])[], random: Random): void => {
  const isWritten = new Uint8Array(bytes.length);
  for (const [from, until] of written) isWritten.fill(1, from, until);
  for (let at = 0; at < bytes.length; at += 1) if (isWritten[at] === 0) bytes[at] = random.integer(0, 255);
};

const withBytes = (before: Buffer, at: number, bytes: Buffer): Buffer => {
  const after = Buffer.alloc(Math.max(before.length, at + bytes.length));
  before.copy(after);
  bytes.copy(after, at);
  return after;
};
