import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { randomOf, seedOf } from "../../kit/random.ts";
import { outcomeOf, resultOf } from "../story/script.ts";
import type { CallBody } from "./talk.ts";

export interface TabCall extends Pick<CallBody, "tab" | "what" | "id" | "seq"> {
  /** The time of arrival, by `performance.now()`. */
  readonly at: number;
}

/** A call whose answer is released piece by piece. */
export interface HeldCall extends TabCall {
  readonly letGo: () => void;
}

/** The server of the page, which acts as its model and its tools, and notes the calls. */
export class TabServer {
  readonly held: Set<HeldCall> = new Set();
  /** If true, no call waits. */
  isOpen = false;
  /** If true, tabs that ask to stall do so; else they continue at once. */
  isStalling = false;
  /** The responses that let stalled tabs continue. */
  readonly #stalled: ServerResponse[] = [];
  readonly #seed: number;
  readonly #page: string;
  readonly #onNews: (call: TabCall) => void;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });

  constructor(seed: number, page: string, onNews: (call: TabCall) => void) {
    this.#seed = seed;
    this.#page = page;
    this.#onNews = onNews;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
    // It listens on a port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  get stalled(): number {
    return this.#stalled.length;
  }

  goOn(): void {
    this.isStalling = false;
    for (const response of this.#stalled.splice(0)) response.end();
  }

  answer(isAnswered: (call: HeldCall) => boolean): void {
    for (const call of this.held) while (isAnswered(call) && this.held.has(call)) call.letGo();
  }

  /** Answers every call at once from now on. */
  open(): void {
    this.isOpen = true;
    while (this.held.size > 0) for (const call of this.held) call.letGo();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/page.js") return void response.setHeader("content-type", "text/javascript").end(this.#page);
    if (request.url === "/stall") return this.isStalling ? void this.#stalled.push(response) : void response.end();
    if (request.url !== "/call") {
      return void response
        .setHeader("content-type", "text/html")
        .end('<!doctype html><meta charset="utf-8"><title>tab</title><script type="module" src="/page.js"></script>');
    }
    // This server's page sends these requests.
    const body = (await json(request)) as CallBody;
    const { tab, what, id, seq } = body;
    const performed: TabCall = { tab, what, id, seq, at: performance.now() };
    const pieces = this.#piecesOf(body);
    const held: HeldCall = {
      ...performed,
      letGo: () => {
        const piece = pieces.shift();
        if (piece !== undefined) response.write(piece);
        if (pieces.length > 0) return;
        response.end();
        this.held.delete(held);
      },
    };
    this.held.add(held);
    response.once("close", () => this.held.delete(held));
    response.flushHeaders();
    if (this.isOpen) while (this.held.has(held)) held.letGo();
    this.#onNews(performed);
  }

  #piecesOf({ what, id, called }: CallBody): string[] {
    if (called === null) return [resultOf(what)];
    const outcome = outcomeOf(called);
    const text = outcome.type === "completed" && typeof outcome.reply.content === "string" ? outcome.reply.content : "";
    // The same pieces for each repetition.
    const size = randomOf(seedOf(this.#seed, id)).integer(8, 40);
    const texts = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    return [...texts.map((piece) => ({ text: piece })), { outcome }].map((piece) => `${JSON.stringify(piece)}\n`);
  }
}
