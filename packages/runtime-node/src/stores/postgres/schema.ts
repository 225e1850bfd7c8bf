/**
 * Every step of the schema, oldest first; the table `version` counts those that a database has seen. A step that was
 * released is never edited: what comes later is appended. `schema` comes quoted. A function may be replaced by a
 * later step, and keeps its signature, since processes of an older version go on calling it.
 */
export const steps: readonly ((schema: string) => string)[] = [(schema) => `${tables(schema)}\n${functions(schema)}`];

// Tokens come from one sequence, so that they keep growing when a thread is deleted and made again. Entries know
// their thread by a number, which keeps rows and index small. Bodies are JSON as text: jsonb refuses "\u0000" and
// writes numbers its own way. Text compares by its bytes, which in UTF-8 is by code point.
// A thread's metadata stands beside its journal, with the seq of the entry that told it and a digest of each member.
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
export const tableNames: readonly string[] = [...Object.keys(said), "leases"];

// Whatever writes to a thread locks the row of its lease first, so all who write to one thread come one after the
// other. Each statement of a function sees what was committed before it began, so what is looked at after the lock is
// up to date. The time is the caller's where one is given, else the server's.
const functions = (schema: string): string => `
  CREATE FUNCTION ${schema}.now_ms(given double precision) RETURNS double precision LANGUAGE sql AS $$
    SELECT coalesce(given, extract(epoch FROM clock_timestamp()) * 1000)
  $$;

  CREATE FUNCTION ${schema}.holds(the_thread text, the_token bigint, the_time double precision) RETURNS boolean
  LANGUAGE plpgsql AS $$
    DECLARE ends double precision;
    BEGIN
      SELECT expires_at INTO ends FROM ${schema}.leases
        WHERE thread = the_thread AND token = the_token FOR NO KEY UPDATE;
      RETURN FOUND AND ends > ${schema}.now_ms(the_time);
    END
  $$;

  CREATE FUNCTION ${schema}.acquire(
    the_thread text, the_owner text, ttl double precision, the_time double precision, OUT granted bigint
  ) LANGUAGE plpgsql AS $$
    DECLARE holder text; ends double precision;
    BEGIN
      IF EXISTS (
        SELECT FROM ${schema}.leases
        WHERE thread = the_thread AND owner <> the_owner AND expires_at > ${schema}.now_ms(the_time)
      ) THEN RETURN; END IF;
      INSERT INTO ${schema}.leases AS l VALUES (the_thread, the_owner, 0, '-Infinity')
        ON CONFLICT (thread) DO UPDATE SET token = l.token
        RETURNING l.owner, l.expires_at INTO holder, ends;
      IF holder <> the_owner AND ends > ${schema}.now_ms(the_time) THEN RETURN; END IF;
      -- Drawn under the lock, so that it is greater than all that this thread had.
      granted := nextval('${schema}.tokens');
      UPDATE ${schema}.leases
        SET owner = the_owner, token = granted, expires_at = ${schema}.now_ms(the_time) + ttl WHERE thread = the_thread;
    END
  $$;

  CREATE FUNCTION ${schema}.append(
    the_thread text, the_token bigint, the_time double precision, expected integer,
    bodies text[], times double precision[], words_of text[],
    made double precision, the_metadata text, the_members text[], told integer,
    OUT held boolean, OUT newest integer
  ) LANGUAGE plpgsql AS $$
    DECLARE the_number bigint;
    BEGIN
      held := ${schema}.holds(the_thread, the_token, the_time);
      IF NOT held THEN RETURN; END IF;
      SELECT number INTO the_number FROM ${schema}.threads WHERE thread = the_thread;
      newest := coalesce((SELECT max(seq) FROM ${schema}.entries WHERE thread = the_number), -1);
      IF newest <> expected OR cardinality(bodies) = 0 THEN RETURN; END IF;
      IF the_number IS NULL THEN
        INSERT INTO ${schema}.threads (thread, created_at, metadata, members, told_at)
          VALUES (the_thread, made, coalesce(the_metadata, '{}'), the_members, told)
          RETURNING number INTO the_number;
      ELSIF the_metadata IS NOT NULL THEN
        UPDATE ${schema}.threads SET metadata = the_metadata, members = the_members, told_at = told
          WHERE number = the_number;
      END IF;
      INSERT INTO ${schema}.entries (thread, seq, at, body)
        SELECT the_number, expected + place, at, body
        FROM unnest(bodies, times) WITH ORDINALITY AS appended (body, at, place);
      INSERT INTO ${schema}.words (thread, seq, words)
        SELECT the_number, expected + place, string_to_array(line, ' ')
        FROM unnest(words_of) WITH ORDINALITY AS appended (line, place) WHERE line <> '';
    END
  $$;

  CREATE FUNCTION ${schema}.rewrite(
    the_thread text, the_token bigint, the_time double precision,
    seqs integer[], bodies text[], times double precision[], words_of text[], metadata_of text[], members_of text[],
    OUT held boolean, OUT missing integer
  ) LANGUAGE plpgsql AS $$
    DECLARE the_number bigint;
    BEGIN
      held := ${schema}.holds(the_thread, the_token, the_time);
      IF NOT held THEN RETURN; END IF;
      SELECT number INTO the_number FROM ${schema}.threads WHERE thread = the_thread;
      SELECT min(given) INTO missing FROM unnest(seqs) AS given
        WHERE NOT EXISTS (SELECT FROM ${schema}.entries WHERE thread = the_number AND seq = given);
      IF missing IS NOT NULL THEN RETURN; END IF;
      UPDATE ${schema}.entries AS e SET body = given.body, at = given.at
        FROM unnest(seqs, bodies, times) AS given (seq, body, at) WHERE e.thread = the_number AND e.seq = given.seq;
      DELETE FROM ${schema}.words WHERE thread = the_number AND seq = ANY (seqs);
      INSERT INTO ${schema}.words (thread, seq, words)
        SELECT the_number, given.seq, string_to_array(line, ' ')
        FROM unnest(seqs, words_of) AS given (seq, line) WHERE line <> '';
      UPDATE ${schema}.threads SET metadata = given.metadata, members = string_to_array(line, ' ')
        FROM unnest(seqs, metadata_of, members_of) AS given (seq, metadata, line)
        WHERE number = the_number AND told_at = given.seq AND given.metadata IS NOT NULL;
      DELETE FROM ${schema}.snapshots WHERE thread = the_thread;
      DELETE FROM ${schema}.chunks WHERE thread = the_thread;
    END
  $$;

  CREATE FUNCTION ${schema}.save_snapshot(
    the_thread text, the_token bigint, the_time double precision,
    the_seq integer, the_head text, ids text[], bodies text[], dropped text[]
  ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT ${schema}.holds(the_thread, the_token, the_time) THEN RETURN false; END IF;
      INSERT INTO ${schema}.chunks (thread, id, body)
        SELECT the_thread, id, body FROM unnest(ids, bodies) AS given (id, body)
        ON CONFLICT (thread, id) DO UPDATE SET body = excluded.body;
      INSERT INTO ${schema}.snapshots (thread, seq, head) VALUES (the_thread, the_seq, the_head)
        ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, head = excluded.head;
      DELETE FROM ${schema}.chunks WHERE thread = the_thread AND id = ANY (dropped);
      RETURN true;
    END
  $$;

  CREATE FUNCTION ${schema}.answer(
    the_thread text, the_token bigint, the_time double precision, ids text[], answers text[]
  ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT ${schema}.holds(the_thread, the_token, the_time) THEN RETURN false; END IF;
      UPDATE ${schema}.letters AS l SET answer = given.answer, letter = NULL
        FROM unnest(ids, answers) AS given (id, answer)
        WHERE l.thread = the_thread AND l.id = given.id AND l.answer IS NULL;
      RETURN true;
    END
  $$;

  CREATE FUNCTION ${schema}.drop_thread(the_thread text) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE the_number bigint;
    BEGIN
      -- Locks the row of the lease, which need not be there: nobody gets it before this is done.
      INSERT INTO ${schema}.leases AS l VALUES (the_thread, '', 0, '-Infinity')
        ON CONFLICT (thread) DO UPDATE SET token = l.token;
      DELETE FROM ${schema}.threads WHERE thread = the_thread RETURNING number INTO the_number;
      DELETE FROM ${schema}.entries WHERE thread = the_number;
      DELETE FROM ${schema}.words WHERE thread = the_number;
      DELETE FROM ${schema}.snapshots WHERE thread = the_thread;
      DELETE FROM ${schema}.chunks WHERE thread = the_thread;
      DELETE FROM ${schema}.letters WHERE thread = the_thread;
      DELETE FROM ${schema}.leases WHERE thread = the_thread;
      RETURN the_number IS NOT NULL;
    END
  $$;`;

/** A name as SQL takes it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
