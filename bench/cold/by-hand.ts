// A hand-written loop over an array, with an insert for each message if threads are kept.
import { DatabaseSync } from "node:sqlite";
import { type PlainMessage, plainReply, plainResult, type Script } from "../kit/script.ts";
import { type OpenSide, schema, type Side } from "./side.ts";

/** Uses the settings of our store in this benchmark. */
export const sqlite: OpenSide = (script, path) => {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  database.exec(
    "CREATE TABLE IF NOT EXISTS message (thread TEXT, seq INTEGER, body TEXT, PRIMARY KEY (thread, seq)) WITHOUT ROWID",
  );
  const insert = database.prepare("INSERT INTO message VALUES (?, ?, ?)");
  const select = database.prepare("SELECT body FROM message WHERE thread = ? ORDER BY seq");
  return loopOver(script, {
    // Cast: `append` inserted these rows.
    load: (thread) => select.all(thread).map(({ body }) => JSON.parse(String(body)) as PlainMessage),
    append: (thread, seq, message) => void insert.run(thread, seq, JSON.stringify(message)),
    close: () => database.close(),
  });
};

export const postgres: OpenSide = async (script, url) => {
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  await client.connect();
  await client.query(
    `CREATE SCHEMA IF NOT EXISTS ${schema};
     CREATE TABLE IF NOT EXISTS ${schema}.message (thread text, seq int, body jsonb, PRIMARY KEY (thread, seq))`,
  );
  const insert = { name: "insert", text: `INSERT INTO ${schema}.message VALUES ($1, $2, $3)` };
  const select = { name: "select", text: `SELECT body FROM ${schema}.message WHERE thread = $1 ORDER BY seq` };
  return loopOver(script, {
    load: async (thread) => {
      const { rows } = await client.query<{ body: PlainMessage }>({ ...select, values: [thread] });
      return rows.map(({ body }) => body);
    },
    append: async (thread, seq, message) =>
      void (await client.query({ ...insert, values: [thread, seq, JSON.stringify(message)] })),
    close: () => client.end(),
  });
};

interface Rows {
  readonly load: (thread: string) => PlainMessage[] | Promise<PlainMessage[]>;
  readonly append: (thread: string, seq: number, message: PlainMessage) => Promise<void> | void;
  readonly close: () => Promise<void> | void;
}

const loopOver = (script: Script, { load, append, close }: Rows): Side => ({
  open: async (threadId) => {
    const messages = await load(threadId);
    const add = (message: PlainMessage): Promise<void> | void => {
      messages.push(message);
      return append(threadId, messages.length, message);
    };
    return async (text) => {
      await add({ role: "user", content: text });
      for (;;) {
        const reply = await plainReply(script, messages);
        await add(reply);
        if (reply.tool_calls === undefined) return reply.content ?? "";
        for (const call of reply.tool_calls) await add(await plainResult(call));
      }
    };
  },
  close,
});
