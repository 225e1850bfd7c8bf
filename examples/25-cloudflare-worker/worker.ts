// A Durable Object for each thread: the object has a host, and its storage has the journal. `main.ts` runs it in workerd.
import { messagesOf, textOf } from "@colloquy/machine";
import { createHost, type Host } from "@colloquy/runtime-browser";
import { openaiChat } from "@colloquy/runtime-node/openai";
import { type ObjectStorage, storageStore } from "./storage.ts";

interface Environment {
  readonly MODEL_URL: string;
  readonly CONVERSATIONS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

interface ObjectState {
  readonly storage: ObjectStorage;
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
}

export class Conversation {
  readonly #host: Promise<Host>;

  constructor(state: ObjectState, { MODEL_URL: baseURL }: Environment) {
    this.#host = state.blockConcurrencyWhile(async () => {
      const store = await storageStore("thread", state.storage);
      const machine = { overlap: { type: "queue", max: 16 } } as const;
      return createHost({ llm: openaiChat({ model: "any", baseURL }), store, machine, defaultThread: "thread" });
    });
    // What was under way when the object ended goes on.
    this.#host.then((host) => host.resumeAll()).catch((error: unknown) => console.error(error));
  }

  /** `POST` asks, and gets the answer as it comes; `GET` gets what was said, when nothing is under way any more. */
  async fetch(request: Request): Promise<Response> {
    const host = await this.#host;
    if (request.method === "GET") {
      const state = await host.thread("thread").state();
      const said = state === null ? [] : messagesOf(state).map((message) => `${message.role}: ${textOf(message)}`);
      return new Response(said.join("\n"));
    }
    const ask = host.ask(await request.text());
    const parts = ask[Symbol.asyncIterator]();
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      // Until there is something to be read: a `pull` that gives nothing is not called again.
      pull: async (controller) => {
        for (;;) {
          const next = await parts.next();
          if (next.done === true) return controller.close();
          if (next.value.type === "text.delta") return controller.enqueue(encoder.encode(next.value.text));
        }
      },
    });
    return new Response(body);
  }
}

// oxlint-disable-next-line no-default-export -- what a worker is by its platform
export default {
  fetch: (request: Request, { CONVERSATIONS }: Environment): Promise<Response> =>
    CONVERSATIONS.get(CONVERSATIONS.idFromName(new URL(request.url).pathname)).fetch(request),
};
