import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@colloquy/machine";
import { onTestFinished } from "vitest";

/** A chat completions server on this machine, which closes with the test. */
export interface ChatServer {
  readonly baseURL: string;
  /** The bodies of the requests so far. */
  readonly bodies: readonly JsonObject[];
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: JsonObject) => void;

/** Starts a server that gives each request this answer. */
export const chatServer = async (answer: Answer): Promise<ChatServer> => {
  const bodies: JsonObject[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      // Cast: the tests send JSON objects.
      const body = JSON.parse(Buffer.concat(pieces).toString()) as JsonObject;
      bodies.push(body);
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Cast: a server on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return { baseURL: `http://127.0.0.1:${port}/v1`, bodies };
};

/** Answers with a text, under a status and headers. */
export const answering =
  (
    text: string,
    status = 200,
    headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
  ): Answer =>
  (_, response) =>
    void response.writeHead(status, headers).end(text);

/** Answers with JSON. */
export const answeringJson = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer =>
  answering(JSON.stringify(body), status, { "content-type": "application/json", ...headers });

/** Begins a stream and leaves it open. */
export const begin = (response: ServerResponse, ...events: readonly object[]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(events.map(eventOf).join(""));
};

/** An event of a stream. */
export const eventOf = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** A chunk of the answer. */
export const chunkOf = (delta: object, finishReason: string | null = null): object => ({
  id: "chat-1",
  model: "model-1",
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});

/** Answers with a stream of these events and its end mark. */
export const streaming = (...events: readonly object[]): Answer =>
  answering(`${events.map(eventOf).join("")}data: [DONE]\n\n`, 200, { "content-type": "text/event-stream" });
