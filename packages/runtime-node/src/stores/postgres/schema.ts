import { functions, partFunctions } from "./functions.ts";

/**
 * Every step of the schema, oldest first; the table `version` counts those that a database has seen. A step that was
 * released is never edited: what comes later is appended. `schema` comes quoted. A function may be replaced by a
 * later step, and keeps its signature, since processes of an older version go on calling it.
 */
export const steps: readonly ((schema: string) => string)[] = [
  (schema) => `${tables(schema)}\n${functions(schema)}`,
  (schema) => `${partTable(schema)}\n${partFunctions(schema)}`,
];

// What was shown of turns, for a bounded time.
const partTable = (schema: string): string => `
  CREATE TABLE ${schema}.parts (
    thread text COLLATE "C", token bigint, number integer, turn integer NOT NULL, until double precision NOT NULL,
    body text NOT NULL, PRIMARY KEY (thread, token, number)
  );
  CREATE INDEX parts_by_time ON ${schema}.parts (thread, until);
  ALTER TABLE ${schema}.parts ALTER COLUMN body SET STATISTICS 0;`;

// Tokens come from one sequence, so that they keep growing when a thread is deleted and made again. Entries know
// their thread by a number, which keeps rows and index small. Bodies are JSON as text: jsonb refuses "\u0000" and
// writes numbers its own way. Text compares by its bytes, which in UTF-8 is by code point.
// A thread's metadata stands beside its journal, with the seq of the entry that said it and a digest of each member.
// No statistics are kept of what was said: pg_statistic would hold samples of it after it was deleted.
const tables = (schema: string): string => `
  CREATE TABLE ${schema}.threads (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread text COLLATE "C" NOT NULL UNIQUE,
    created_at double precision NOT NULL,
    metadata text NOT NULL,
    members text[] NOT NULL,
    told_at integer NOT NULL
  );
  CREATE INDEX threads_by_time ON ${schema}.threads (created_at, thread);
  CREATE INDEX threads_by_members ON ${schema}.threads USING gin (members);
  CREATE TABLE ${schema}.entries (
    thread bigint, seq integer, at double precision NOT NULL, body text NOT NULL, PRIMARY KEY (thread, seq)
  );
  CREATE VIEW ${schema}.journal AS
    SELECT threads.thread, seq, at, body FROM ${schema}.entries JOIN ${schema}.threads ON number = entries.thread;
  CREATE TABLE ${schema}.words (thread bigint, seq integer, words text[] NOT NULL, PRIMARY KEY (thread, seq));
  CREATE INDEX words_by_word ON ${schema}.words USING gin (words);
  CREATE TABLE ${schema}.leases (
    thread text COLLATE "C" PRIMARY KEY, owner text NOT NULL, token bigint NOT NULL, expires_at double precision NOT NULL
  );
  CREATE SEQUENCE ${schema}.tokens;
  CREATE TABLE ${schema}.snapshots (
    thread text COLLATE "C" PRIMARY KEY, seq integer NOT NULL, head text NOT NULL
  );
  CREATE TABLE ${schema}.chunks (thread text COLLATE "C", id text, body text NOT NULL, PRIMARY KEY (thread, id));
  CREATE TABLE ${schema}.letters (
    thread text COLLATE "C", id text, number bigint GENERATED ALWAYS AS IDENTITY, letter text, answer text,
    PRIMARY KEY (thread, id)
  );
  ${Object.entries(said)
    .flatMap(([table, columns]) =>
      columns.map((column) => `ALTER TABLE ${schema}.${table} ALTER COLUMN ${column} SET STATISTICS 0;`),
    )
    .join("\n")}`;

/** Where words of a conversation are. */
const said: { readonly [table: string]: readonly string[] } = {
  threads: ["metadata", "members"],
  entries: ["body"],
  words: ["words"],
  snapshots: ["head"],
  chunks: ["body"],
  letters: ["letter", "answer"],
};

/** All tables, for those who clean up. */
export const tableNames: readonly string[] = [...Object.keys(said), "parts", "leases"];

/** A name as SQL takes it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
