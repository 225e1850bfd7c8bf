import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Store } from "@colloquy/host";
import pg from "pg";
import { createClient } from "redis";

import {
  databaseIn,
  type FolderPlace,
  leavePlace,
  newPlace,
  openStore,
  type ServerPlace,
  threadsIn,
} from "../../kit/places.ts";

/** A stored text that anyone with access to the store's disk or server can change. */
export interface Cell {
  readonly kind: "entry" | "head" | "chunk" | "envelope" | "listing";
  readonly threadId: string;
  readonly name: string;
  readonly text: string;
  readonly put: (text: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

export interface Place {
  readonly open: () => Store;
  readonly cells: () => Promise<readonly Cell[]>;
  readonly leave: () => Promise<void>;
}

export const placeNames = ["sqlite", "files", "postgres", "redis"] as const;

/** Opens a new place for a store, by name. The memory store has none, as its texts are private. */
export const openPlace = async (name: (typeof placeNames)[number]): Promise<Place> => {
  const place = newPlace(name, "tampering");
  const open = (): Store => openStore(place);
  if (!("folder" in place)) return { open, ...(await (place.type === "postgres" ? tablesOf : keysOf)(place)) };
  const cellsOf = place.type === "sqlite" ? cellsOfSqlite : cellsOfFiles;
  return { open, cells: async () => cellsOf(place), leave: () => leavePlace(place) };
};

const cellsOfSqlite = (place: FolderPlace): readonly Cell[] => {
  const path = databaseIn(place);
  const cells = cellsOfDatabase(path);
  const thread = threadBy(`place / ${2 ** 26}`);
  return [
    ...cells("entry", "entries", "body", `'entry ' || (place % ${2 ** 26})`, thread),
    ...cellsBeside(path),
    ...cells("listing", "threads", "metadata", "'its metadata'", "threads.thread"),
  ];
};

/** Lists the snapshots and inbox items of a SQLite file. */
const cellsBeside = (path: string): readonly Cell[] => [
  ...cellsOfDatabase(path)("chunk", "snapshots", "body", "part", threadBy("snapshots.thread")),
  ...cellsOfDatabase(path)("envelope", "letters", "letter", "'envelope ' || letters.id", "letters.thread"),
];

const threadBy = (number: string): string => `(SELECT threads.thread FROM threads WHERE threads.id = ${number})`;

const cellsOfDatabase =
  (path: string) =>
  (kind: Cell["kind"], table: string, column: string, name: string, thread: string): readonly Cell[] => {
    const run = (text: string, ...values: readonly (string | number)[]) => {
      const database = new DatabaseSync(path);
      try {
        return database.prepare(text).all(...values);
      } finally {
        database.close();
      }
    };
    const key = table === "letters" ? "number" : table === "entries" ? "place" : table === "threads" ? "id" : "part";
    const rows = run(`SELECT ${thread} AS thread, ${name} AS name, ${key} AS key, ${column} AS text FROM ${table}
      WHERE ${column} IS NOT NULL ORDER BY thread, key`);
    return rows.map(({ thread: threadId, name: named, key: value, text }) => {
      const where = `WHERE ${key} = ?1 AND ${thread} = ?2`;
      // The values are numbers and texts.
      const values = [value as string | number, String(threadId)] as const;
      return {
        kind: kind === "chunk" && value === "head" ? "head" : kind,
        threadId: String(threadId),
        name: String(named),
        text: String(text),
        put: async (given) => void run(`UPDATE ${table} SET ${column} = ?3 ${where}`, ...values, given),
        remove: async () => void run(`DELETE FROM ${table} ${where}`, ...values),
      };
    });
  };

const cellsOfFiles = (place: FolderPlace): readonly Cell[] => {
  const folder = threadsIn(place);
  const linesOf = (file: string): readonly Cell[] => {
    const path = join(folder, file);
    const lines = (): string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);
    const write = (changed: readonly string[]): void =>
      writeFileSync(path, changed.map((line) => `${line}\n`).join(""));
    return lines().map((text, index) => ({
      kind: "entry",
      threadId: basename(file, ".jsonl"),
      name: `entry ${index}`,
      text,
      put: async (given) => write(lines().map((line, at) => (at === index ? given : line))),
      remove: async () => write(lines().filter((_, at) => at !== index)),
    }));
  };
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return [...files.toSorted().flatMap(linesOf), ...cellsBeside(join(folder, "threads.db"))];
};

const tablesOf = async ({ url, space: schema }: ServerPlace): Promise<Omit<Place, "open">> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const cellsOf = async (kind: Cell["kind"], table: string, column: string, name: string): Promise<readonly Cell[]> => {
    const thread =
      table === "entries" ? `(SELECT t.thread FROM ${schema}.threads AS t WHERE t.number = x.thread)` : "x.thread";
    const { rows } = await client.query<Readonly<Record<string, string>>>(
      `SELECT ${thread} AS thread, ${name} AS name, ctid::text AS place, ${column} AS text FROM ${schema}.${table} AS x
       WHERE ${column} IS NOT NULL ORDER BY 1, 2`,
    );
    return rows.map(({ thread: threadId = "", name: named = "", text = "", place = "" }) => {
      // A changed row moves.
      let at = place;
      return {
        kind,
        threadId,
        name: named,
        text,
        put: async (given) => {
          const update = `UPDATE ${schema}.${table} SET ${column} = $2 WHERE ctid = $1::tid RETURNING ctid::text AS at`;
          const moved = await client.query<{ readonly at: string }>(update, [at, given]);
          at = moved.rows[0]?.at ?? at;
        },
        remove: async () => void (await client.query(`DELETE FROM ${schema}.${table} WHERE ctid = $1::tid`, [at])),
      };
    });
  };
  return {
    cells: async () => [
      ...(await cellsOf("entry", "entries", "body", "'entry ' || to_char(seq, 'FM000')")),
      ...(await cellsOf("head", "snapshots", "head", "'head'")),
      ...(await cellsOf("chunk", "chunks", "body", "id")),
      ...(await cellsOf("envelope", "letters", "letter", "id")),
      ...(await cellsOf("listing", "threads", "metadata", "'its metadata'")),
    ],
    leave: async () => {
      await client.query(`DROP SCHEMA ${schema} CASCADE`);
      await client.end();
    },
  };
};

const keysOf = async ({ url, space }: ServerPlace): Promise<Omit<Place, "open">> => {
  const prefix = `${space}:`;
  const client = createClient({ url });
  await client.connect();
  const keys = async (): Promise<readonly string[]> => (await client.keys(`${prefix}*`)).toSorted();
  const fieldsOf = async (key: string, kind: Cell["kind"], threadId: string): Promise<readonly Cell[]> =>
    Object.entries(await client.hGetAll(key))
      .filter(([field]) => !["lease", "seq", "place", "told"].includes(field))
      .map(([field, text]) => ({
        kind,
        threadId,
        name: field,
        text,
        put: async (given) => void (await client.hSet(key, field, given)),
        remove: async () => void (await client.hDel(key, field)),
      }));
  const removed = "this element is to be removed";
  const cellsAt = async (key: string): Promise<readonly Cell[]> => {
    const [, threadId = "", kind = ""] = /\{(.*)\}:(\w+)$/.exec(key) ?? [];
    if (kind === "entries")
      return (await client.lRange(key, 0, -1)).map((text, index) => ({
        kind: "entry",
        threadId,
        name: `entry ${index}`,
        text,
        put: async (given) => void (await client.lSet(key, index, given)),
        remove: async () => {
          await client.lSet(key, index, removed);
          await client.lRem(key, 1, removed);
        },
      }));
    if (kind === "snapshot") return fieldsOf(key, "head", threadId);
    if (kind === "chunks") return fieldsOf(key, "chunk", threadId);
    if (kind === "letters") return fieldsOf(key, "envelope", threadId);
    return kind === "thread" ? fieldsOf(key, "listing", threadId) : [];
  };
  return {
    cells: async () => (await Promise.all((await keys()).map(cellsAt))).flat(),
    leave: async () => {
      const left = await keys();
      if (left.length > 0) await client.unlink([...left]);
      client.destroy();
    },
  };
};
