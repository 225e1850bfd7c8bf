// A Durable Object for each thread: it has a host, and its storage has the journal. `pnpm places` runs it in workerd.
// Your own worker decides who may use which thread.
import { messagesOf, textOf } from "@colloquy/machine";
import { type AskHandle, createHost, type Host, tool } from "@colloquy/runtime-browser";
import { openaiChat } from "@colloquy/runtime-node/openai";
import { z } from "zod";
import { type ObjectStorage, ObjectStore } from "./storage.ts";

interface Environment {
  readonly MODEL_URL: string;
  readonly MODEL_KEY?: string;
  readonly MODEL?: string;
  /** The longest time until a turn continues after the object died, if nobody asks. */
  readonly WAKE_MS?: string;
  readonly CONVERSATIONS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

interface ObjectState {
  readonly storage: ObjectStorage & { setAlarm(at: number): Promise<void> };
}

export class Conversation {
  readonly #storage: ObjectState["storage"];
  readonly #host: Host;
  readonly #wakeMs: number;

  constructor({ storage }: ObjectState, environment: Environment) {
    const { MODEL_URL: baseURL, MODEL_KEY: apiKey = "none", MODEL: model = "any", WAKE_MS } = environment;
    storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, note TEXT)");
    const note = tool({
      name: "note",
      description: "Keeps a note for later.",
      input: z.object({ note: z.string() }),
      recovery: "rerun", // a repeated call has the same key, so it leaves one note
      run: ({ note: text }, { idempotencyKey }) => {
        storage.sql.exec("INSERT OR IGNORE INTO notes VALUES (?, ?)", idempotencyKey, text);
        return "Noted.";
      },
    });
    this.#storage = storage;
    this.#wakeMs = Number(WAKE_MS ?? 30_000);
    this.#host = createHost({
      llm: openaiChat({ model, baseURL, apiKey }),
      store: new ObjectStore(storage),
      tools: [note],
      machine: { overlap: { type: "queue", max: 16 } },
    });
  }

  /** `GET` returns the messages and the notes; `POST` asks and streams the parts as server-sent events. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === "GET") {
      const state = await this.#host.thread().state();
      const said =
        state === null ? [] : messagesOf(state).map((message) => ({ role: message.role, text: textOf(message) }));
      return Response.json({ said, notes: this.#storage.sql.exec("SELECT note FROM notes ORDER BY id").toArray() });
    }
    if (request.method !== "POST")
      return new Response("GET shows the thread, POST asks\n", { status: 405, headers: { allow: "GET, POST" } });
    const input = await request.text();
    if (input === "") return new Response("The body is the question, and it is empty\n", { status: 400 });
    if (input.length > longest) return new Response(`A question has ${longest} characters at most\n`, { status: 413 });
    // A client that lost the connection and asks again with its key gets the same answer.
    const askId = request.headers.get("idempotency-key") ?? "";
    await this.#wakeLater();
    const ask = this.#host.ask(input, askId === "" ? {} : { askId });
    return new Response(streamOf(eventsOf(ask)), { headers: { "content-type": "text/event-stream" } });
  }

  /** Continues a turn in which the object died. */
  async alarm(): Promise<void> {
    const thread = this.#host.thread();
    if ((await thread.asks(1)).length === 0) return; // it died before the question was stored
    const { turn, queued } = await thread.resume();
    // Set again while something is under way. Regular calls also keep the object from being evicted.
    if (turn !== null || queued.length > 0) await this.#wakeLater();
  }

  #wakeLater(): Promise<void> {
    return this.#storage.setAlarm(Date.now() + this.#wakeMs);
  }
}

/** The longest question, in UTF-16 units. Questions are kept as long as their thread. */
const longest = 100_000;

/** Yields the parts of an ask by type, and at last its `answer` or an `error`. */
const eventsOf = async function* (ask: AskHandle): AsyncGenerator<string, void> {
  const event = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  try {
    for await (const part of ask) yield event(part.type, part);
    yield event("answer", (await ask).text);
  } catch (error) {
    yield event("error", error instanceof Error ? error.message : String(error));
  }
};

/** Streams the texts. A client that disconnects stops the reading, not the ask. */
const streamOf = (texts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await texts.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => void texts.return(undefined),
  });
};

// oxlint-disable-next-line no-default-export -- the platform requires it
export default {
  fetch: (request: Request, { CONVERSATIONS }: Environment): Promise<Response> =>
    CONVERSATIONS.get(CONVERSATIONS.idFromName(new URL(request.url).pathname)).fetch(request),
};
