// Makes millions of threads: a host makes the first, and SQL copies its rows under other names, a thousand times faster
// than hosts would write them. Listing, searching and opening them through the store shows that it accepts them.
import { DatabaseSync } from "node:sqlite";

import { type Clock, createHost } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { randomIds } from "@colloquy/runtime-node";

import { databaseIn, openStore, type StorePlace } from "../../proof/kit/places.ts";
import { userText } from "../kit/script.ts";
import { instantAnswer } from "../kit/work.ts";
import { rowsOf } from "./place-facts.ts";

/** Threads are made a second apart. */
export const madeAt = (index: number): number => firstAt + index * 1_000;

const firstAt = 1_600_000_000_000;

export const threadIdOf = (index: number): string => `t${String(index).padStart(8, "0")}`;

/** Returns a word of all threads, one of a thousandth of them, and one of this thread only. */
export const wordsOfThread = (
  index: number,
): { readonly all: string; readonly some: string; readonly one: string } => ({
  all: "quick",
  some: `subject${index % 1_000}`,
  one: `order${index}`,
});

/** Returns a thread's metadata: a value that a thousandth of the threads share, and a unique one. */
export const metadataOf = (index: number): { readonly tenant: string; readonly order: string } => ({
  tenant: `tenant${index % 1_000}`,
  order: `number${index}`,
});

/** Adds the threads from `first` to `end`, each of one turn. Thread 0 must exist before the others. */
export const fill = async (place: StorePlace, first: number, end: number): Promise<void> => {
  if (first === 0) await makeFirst(place);
  for (let from = Math.max(first, 1); from < end; from += together) {
    const range = [from, Math.min(from + together, end) - 1] as const;
    if (place.type === "postgres") await rowsOf(place.url, copyInPostgres(place.space, ...range));
    else if (place.type === "sqlite") copyInSqlite(databaseIn(place), ...range);
    else throw new Error(`no threads are copied in a store of the type ${place.type}`);
  }
};

const together = 20_000;

const makeFirst = async (place: StorePlace): Promise<void> => {
  // A clock that stands still and calls nobody.
  const clock: Clock = { now: () => madeAt(0), wakeAt: () => () => undefined };
  const store = openStore(place);
  const machine = conversationMachine();
  const host = createHost({
    machine,
    store,
    llm: instantAnswer,
    clock,
    ids: randomIds,
    thread: { metadata: metadataOf(0) },
  });
  const { all, some, one } = wordsOfThread(0);
  await host.ask(`${one} ${some} ${all} ${userText(1)}`, { threadId: threadIdOf(0) });
  await host.close();
  await store.close();
};

/** Returns SQL that turns a text of the first thread into that of thread `i`. No replaced text is part of another. */
const renamed = (column: string, id: string): string =>
  [
    [threadIdOf(0), id],
    [String(madeAt(0)), `CAST(${firstAt} + i * 1000 AS text)`],
    ["order0", "'order' || i"],
    ["number0", "'number' || i"],
    ["subject0", "'subject' || (i % 1000)"],
    ["tenant0", "'tenant' || (i % 1000)"],
  ].reduce((sql, [name, other]) => `replace(${sql}, '${name}', ${other})`, column);

const copyInSqlite = (path: string, first: number, last: number): void => {
  const database = new DatabaseSync(path);
  const id = "printf('t%08d', i)";
  const numbers = `WITH RECURSIVE numbers (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM numbers WHERE i < ${last})`;
  // The first place of the first thread equals the room of each thread.
  database.exec(`PRAGMA synchronous = OFF; BEGIN IMMEDIATE;
    INSERT INTO threads (id, thread, created_at, metadata)
      ${numbers} SELECT i + 1, ${id}, ${firstAt} + i * 1000, ${renamed("metadata", id)}
      FROM numbers, (SELECT metadata FROM threads WHERE id = 1);
    INSERT INTO entries (place, body)
      ${numbers} SELECT place + i * room, ${renamed("body", id)}
      FROM numbers CROSS JOIN (SELECT min(place) AS room FROM entries)
        JOIN (SELECT place, body FROM entries WHERE place < (SELECT 2 * min(place) FROM entries)) ORDER BY i, place;
    COMMIT`);
  database.close();
};

const copyInPostgres = (schema: string, first: number, last: number): string => {
  const id = "'t' || lpad(i::text, 8, '0')";
  const numbers = `generate_series(${first}, ${last}) AS i`;
  const member = (text: string): string =>
    `translate(rtrim(encode(sha256(convert_to(${text}, 'UTF8')), 'base64'), '='), '+/', '-_')`;
  const members = [`'["tenant","tenant' || (i % 1000) || '"]'`, `'["order","number' || i || '"]'`].map(member);
  return `SET search_path = "${schema}"; SET synchronous_commit = off; BEGIN;
    INSERT INTO threads (number, thread, created_at, metadata, members, told_at) OVERRIDING SYSTEM VALUE
      SELECT number + i, ${id}, ${firstAt} + i * 1000.0, ${renamed("metadata", id)}, ARRAY[${members.join(", ")}], told_at
      FROM ${numbers}, threads WHERE thread = '${threadIdOf(0)}';
    SELECT setval(pg_get_serial_sequence('threads', 'number'), (SELECT max(number) FROM threads));
    INSERT INTO entries (thread, seq, at, body)
      SELECT number + i, seq, at + i * 1000.0, ${renamed("body", id)}
      FROM ${numbers}, entries JOIN threads ON number = entries.thread WHERE threads.thread = '${threadIdOf(0)}';
    INSERT INTO words (thread, seq, words)
      SELECT number + i, seq,
        array_replace(array_replace(words, 'order0', 'order' || i), 'subject0', 'subject' || (i % 1000))
      FROM ${numbers}, words JOIN threads ON number = words.thread WHERE threads.thread = '${threadIdOf(0)}';
    COMMIT`;
};
