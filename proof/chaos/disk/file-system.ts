import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";

import { type DiskNode, type Folder, newFile, newFolder, type SimulatedDisk } from "./disk.ts";

class Killed extends Error {}

interface Place {
  readonly folder: Folder;
  readonly name: string;
}

/**
 * Puts a simulated disk under the unchanged store: the functions of `node:fs` that it calls work as before, and the
 * disk learns of them. Functions that would change files without the disk throw, so that a store's first use of one is
 * noticed. A process has one file system, so it cannot simulate two at once.
 */
export class SimulatedFileSystem {
  readonly #root: string;
  readonly #real = { ...fs };
  readonly #open = new Map<number, DiskNode>();
  #disk: SimulatedDisk | null = null;
  #left = Infinity;
  #isDead = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** Installs the simulation. Returns a function that removes it. */
  install(): () => void {
    const replaced = { ...this.#refusing(), ...this.#files(), ...this.#folders() };
    const real = Object.fromEntries(Object.entries(this.#real).filter(([name]) => name in replaced));
    Object.assign(fs, replaced);
    syncBuiltinESMExports();
    return () => {
      Object.assign(fs, real);
      syncBuiltinESMExports();
    };
  }

  /**
   * Directs operations on the folder to a disk from now on; null for none. Starts a process, which dies after `changes`
   * changes.
   */
  begin(disk: SimulatedDisk | null, changes: number): void {
    if (disk !== this.#disk) this.#open.clear();
    this.#disk = disk;
    this.#left = changes;
    this.#isDead = false;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Counts a change. Throws once the process is dead. */
  #step(): void {
    this.#isDead ||= this.#left <= 0;
    if (this.#isDead) throw new Killed("the process was killed");
    this.#left -= 1;
  }

  /** Returns the place of a path on the disk; null for a path outside. SQLite flushes its own files. */
  #at(path: fs.PathLike): Place | null {
    const text = String(path);
    if (this.#disk === null || !text.startsWith(this.#root + sep) || basename(text).startsWith("threads.db"))
      return null;
    let folder: DiskNode | undefined = this.#disk.root;
    for (const part of relative(this.#root, dirname(text)).split(sep))
      if (part !== "") folder = folder?.kind === "folder" ? folder.names.get(part) : undefined;
    if (folder?.kind === "folder") return { folder, name: basename(text) };
    if (this.#real.existsSync(dirname(text))) throw new Error(`${text}: its folder was made past the disk`);
    return null;
  }

  #files(): Partial<typeof fs> {
    const real = this.#real;
    const openSync: typeof fs.openSync = (path, flags, mode) => {
      const place = this.#at(path);
      const makes = typeof flags === "number" && (flags & fs.constants.O_CREAT) !== 0;
      if (place !== null && makes) this.#step();
      const file = real.openSync(path, flags, mode);
      const node = place === null ? undefined : (place.folder.names.get(place.name) ?? newFile());
      if (place !== null && node !== undefined && !place.folder.names.has(place.name))
        this.#disk?.make(place.folder, place.name, node);
      if (node !== undefined) this.#open.set(file, node);
      if (this.#disk !== null && String(path) === this.#root) this.#open.set(file, this.#disk.root);
      return file;
    };
    const writeSync = (
      file: number,
      bytes: Buffer,
      from = 0,
      length = bytes.length - from,
      at: number | null = null,
    ): number => {
      const node = this.#open.get(file);
      if (node?.kind === "file") this.#step();
      const written = real.writeSync(file, bytes, from, length, at);
      if (node?.kind === "file") this.#disk?.write(node, at ?? node.bytes.length, bytes.subarray(from, from + written));
      return written;
    };
    const ftruncateSync: typeof fs.ftruncateSync = (file, length) => {
      const node = this.#open.get(file);
      if (node?.kind === "file") this.#step();
      real.ftruncateSync(file, length);
      if (node?.kind === "file") this.#disk?.truncate(node, length ?? 0);
    };
    const flush = (file: number): void => {
      const node = this.#open.get(file);
      if (node === undefined) return;
      this.#step();
      this.#disk?.flush(node);
    };
    const closeSync: typeof fs.closeSync = (file) => {
      this.#open.delete(file);
      real.closeSync(file);
    };
    // The store only writes buffers, so only this overload is simulated.
    const written = writeSync as typeof fs.writeSync;
    return { openSync, writeSync: written, ftruncateSync, fsyncSync: flush, fdatasyncSync: flush, closeSync };
  }

  #folders(): Partial<typeof fs> {
    const real = this.#real;
    const mkdirSync = (path: fs.PathLike, options?: fs.MakeDirectoryOptions): void => {
      const place = this.#at(path);
      if (place !== null && !real.existsSync(path)) this.#step();
      real.mkdirSync(path, options);
      if (place !== null) this.#disk?.make(place.folder, place.name, newFolder(place.name));
    };
    const renameSync: typeof fs.renameSync = (path, newPath) => {
      const place = this.#at(path);
      if (place !== null) this.#step();
      real.renameSync(path, newPath);
      if (place !== null) this.#disk?.rename(place.folder, place.name, basename(String(newPath)));
    };
    const remove = (path: fs.PathLike, really: typeof real.unlinkSync): void => {
      const place = this.#at(path);
      if (place !== null && real.existsSync(path)) this.#step();
      really(path);
      if (place !== null) this.#disk?.remove(place.folder, place.name);
    };
    /** Removes one path after the other, as the real function does. */
    const rmSync: typeof fs.rmSync = (path, options) => {
      if (this.#at(path) === null || !real.existsSync(path)) return real.rmSync(path, options);
      if (!real.lstatSync(path).isDirectory()) return remove(path, real.unlinkSync);
      for (const name of real.readdirSync(path)) rmSync(join(String(path), name), options);
      remove(path, real.rmdirSync);
    };
    return {
      // The overload that makes several folders and returns the first is not simulated.
      mkdirSync: mkdirSync as typeof fs.mkdirSync,
      renameSync,
      rmSync,
      unlinkSync: (path) => remove(path, real.unlinkSync),
      rmdirSync: (path) => remove(path, real.rmdirSync),
    };
  }

  #refusing(): Record<string, unknown> {
    const changing = Object.entries(this.#real).filter(([name]) => changesFiles.test(name));
    return Object.fromEntries(
      changing.map(([name, value]) => [
        name,
        (...given: readonly unknown[]): unknown => {
          if (this.#disk !== null) throw new Error(`${name} is not simulated`);
          // All values with such names are functions.
          return Reflect.apply(value as (...given: readonly unknown[]) => unknown, this.#real, given);
        },
      ]),
    );
  }
}

const changesFiles =
  /^(?:append|chmod|chown|copy|cp|createWrite|f?chmod|f?chown|f?datasync|fsync|f?truncate|futimes|l?chmod|l?chown|link|lutimes|mkdir|mkdtemp|open|rename|rm|symlink|unlink|utimes|write)/;
