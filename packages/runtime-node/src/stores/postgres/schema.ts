import { functions, partFunctions } from "./functions.ts";

/**
 * All steps of the schema, oldest first. The table `version` counts the steps that a database has. A released step is
 * never edited; changes are appended as new steps. `schema` is quoted. A later step may replace a function but keeps
 * its signature, since processes of an older version still call it.
 */
export const steps: readonly ((schema: string) => string)[] = [
  (schema) => `${tables(schema)}\n${functions(schema)}`,
  (schema) => `${partTable(schema)}\n${partFunctions(schema)}`,
];

// The shown parts of turns, kept for a limited time.
const partTable = (schema: string): string => `
  CREATE TABLE ${schema}.parts (
    thread text COLLATE "C", token bigint, number integer, turn integer NOT NULL, until double precision NOT NULL,
    body text NOT NULL, PRIMARY KEY (thread, token, number)
  );
  CREATE INDEX parts_by_time ON ${schema}.parts (thread, until);
  ALTER TABLE ${schema}.parts ALTER COLUMN body SET STATISTICS 0;`;

// Tokens come from one sequence, so that they keep growing after a thread is deleted and created again. Entries refer
// to their thread by a number, which keeps rows and index small. Bodies are JSON as text: jsonb refuses "\u0000" and
// changes numbers. Text is compared by bytes, which in UTF-8 is the order of code points. A thread's metadata is stored
// beside its journal, with the seq of its entry and a digest of each member. No statistics of conversations are kept:
// pg_statistic would hold samples of deleted text.
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

/** The columns with text of conversations. */
const said: { readonly [table: string]: readonly string[] } = {
  threads: ["metadata", "members"],
  entries: ["body"],
  words: ["words"],
  snapshots: ["head"],
  chunks: ["body"],
  letters: ["letter", "answer"],
};

export const tableNames: readonly string[] = [...Object.keys(said), "parts", "leases"];

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
