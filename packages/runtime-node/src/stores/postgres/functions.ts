// Each function that writes to a thread first locks the row of its lease, so that writers to one thread run one after
// the other. Each statement of a function sees everything that was committed before it started, so reads after the lock
// are up to date. The time is the caller's if one is given, else the server's.

/** Returns the SQL of the functions that writers call, each in one round trip. `schema` is quoted. */
export const functions = (schema: string): string =>
  [leases(schema), append(schema), rewrite(schema), snapshots(schema), letters(schema), deletion(schema)].join("\n");

/**
 * Returns the functions of the schema's second step. Without a lease in force, `add_parts` returns false and writes
 * nothing. Parts are deleted wherever a thread's chunks are deleted. A commit of parts does not wait for the disk,
 * since parts need only survive a crash of the host's process.
 */
export const partFunctions = (schema: string): string => `
  CREATE FUNCTION ${schema}.add_parts(
    the_thread text, the_token bigint, the_time double precision,
    the_number integer, the_turn integer, the_body text, the_present double precision, ends double precision
  ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT ${schema}.holds(the_thread, the_token, the_time) THEN RETURN false; END IF;
      PERFORM set_config('synchronous_commit', 'off', true);
      DELETE FROM ${schema}.parts WHERE thread = the_thread AND until <= the_present;
      INSERT INTO ${schema}.parts (thread, token, number, turn, until, body)
        VALUES (the_thread, the_token, the_number, the_turn, ends, the_body);
      RETURN true;
    END
  $$;
  ${[rewrite(schema), deletion(schema)].map((made) => forgettingParts(schema, made)).join("\n")}`;

/** Changes a function that deletes chunks, so that it deletes parts too. */
const forgettingParts = (schema: string, made: string): string => {
  const chunks = `DELETE FROM ${schema}.chunks WHERE thread = the_thread;`;
  return made
    .replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
    .replace(chunks, () => `${chunks}\n      DELETE FROM ${schema}.parts WHERE thread = the_thread;`);
};

/** Returns the lease functions. `acquire` returns a token, or null while another owner holds the lease. */
const leases = (schema: string): string => `
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
  $$;`;

/** Returns the append function. If the `newest` seq before it is not `expected`, nothing is written. */
const append = (schema: string): string => `
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
  $$;`;

/** Returns the rewrite function. `missing` is a seq that does not exist; then nothing is written. */
const rewrite = (schema: string): string => `
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
  $$;`;

/** Returns the snapshot function. Without a lease in force it returns false and writes nothing. */
const snapshots = (schema: string): string => `
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
  $$;`;

/** Returns the answer function. Without a lease in force it returns false and writes nothing. */
const letters = (schema: string): string => `
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
  $$;`;

/** Returns the deletion function, which returns whether the thread existed; null if a token is given and its lease is lost. */
const deletion = (schema: string): string => `
  CREATE FUNCTION ${schema}.drop_thread(the_thread text, the_token bigint, the_time double precision)
  RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE the_number bigint;
    BEGIN
      -- Locks the row of the lease, which need not be there: nobody gets it before this is done.
      INSERT INTO ${schema}.leases AS l VALUES (the_thread, '', 0, '-Infinity')
        ON CONFLICT (thread) DO UPDATE SET token = l.token;
      IF the_token IS NOT NULL AND NOT ${schema}.holds(the_thread, the_token, the_time) THEN
        DELETE FROM ${schema}.leases WHERE thread = the_thread AND token = 0;
        RETURN NULL;
      END IF;
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
