import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Store } from "@colloquy/host";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { redisStore } from "@colloquy/runtime-node/redis";
import pg from "pg";
import { createClient } from "redis";

import { newFolder, removeFolder } from "../../kit/folder.ts";
import { neededServerUrl } from "../../kit/server-urls.ts";

/** A text that a store keeps, where all who can reach its disk or its server can change it. */
export interface Cell {
  readonly kind: "entry" | "head" | "chunk" | "envelope" | "listing";
  readonly threadId: string;
  /** In what is said of it. */
  readonly name: string;
  readonly text: string;
  readonly put: (text: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A place that a store keeps threads in. */
export interface Place {
  readonly open: () => Store;
  /** All that can be tampered with, in order. */
  readonly cells: () => Promise<readonly Cell[]>;
  /** Removes the place with all that is in it. */
  readonly leave: () => Promise<void>;
}

/** A place of its own, by the name of its store. The memory store has none: its texts are in private memory. */
export const places = {
  sqlite: async () => sqlitePlace(),
  files: async () => filesPlace(),
  postgres: () => postgresPlace(neededServerUrl("postgres")),
  redis: () => redisPlace(neededServerUrl("redis")),
} as const satisfies Readonly<Record<string, () => Promise<Place>>>;

export type PlaceName = keyof typeof places;

const sqlitePlace = (): Place => {
  const folder = newFolder("tampering");
  const path = join(folder, "store.db");
  return {
    open: () => sqliteStore({ path, synchronous: "NORMAL" }),
    cells: async () => {
      const cells = cellsOfDatabase(path);
      const thread = threadBy(`place / ${2 ** 26}`);
      return [
        ...cells("entry", "entries", "body", `'entry ' || (place % ${2 ** 26})`, thread),
        ...cellsBeside(path),
        ...cells("listing", "threads", "metadata", "'its metadata'", "threads.thread"),
      ];
    },
    leave: async () => removeFolder(folder),
  };
};

/** Snapshots and inbox items of a SQLite file. */
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
      // Numbers and texts.
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

const filesPlace = (): Place => {
  const folder = newFolder("tampering");
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
  return {
    open: () => filesStore({ folder, synchronous: "NORMAL" }),
    cells: async () => [
      ...readdirSync(folder)
        .toSorted()
        .flatMap((name) => (name.endsWith(".jsonl") ? linesOf(name) : [])),
      ...cellsBeside(join(folder, "threads.db")),
    ],
    leave: async () => removeFolder(folder),
  };
};

let placesMade = 0;

const postgresPlace = async (url: string): Promise<Place> => {
  const schema = `tampering_${process.pid}_${(placesMade += 1)}`;
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
      // A row that is changed moves.
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
    open: () => postgresStore({ connectionString: url, schema }),
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

const redisPlace = async (url: string): Promise<Place> => {
  const prefix = `tampering-${process.pid}-${(placesMade += 1)}:`;
  const client = createClient({ url });
  await client.connect();
  const keysOf = async (): Promise<readonly string[]> => (await client.keys(`${prefix}*`)).toSorted();
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
    open: () => redisStore({ url, prefix }),
    cells: async () => (await Promise.all((await keysOf()).map(cellsAt))).flat(),
    leave: async () => {
      const keys = await keysOf();
      if (keys.length > 0) await client.unlink([...keys]);
      client.destroy();
    },
  };
};
