// Serves a page whose conversation lives in the browser: `node examples/23-browser/main.ts`, then open the address in
// two tabs. The server keeps only the key of its model; here a rule stands in for the model.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Message, textOf } from "@colloquy/machine";
import { rolldown } from "rolldown";

export interface Site {
  readonly url: string;
  readonly close: () => void;
}

/** Serves the page on this machine only. The stand-in takes `pace` milliseconds for a word. */
export const serveSite = async (pace: number): Promise<Site> => {
  const script = await bundled();
  const page = readFileSync(new URL("index.html", import.meta.url));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === "/page.js") response.setHeader("content-type", "text/javascript").end(script);
    else if (request.url === "/") response.setHeader("content-type", "text/html").end(page);
    else if (request.url === "/model") await reply((await json(request)) as Message[], response, pace);
    else response.writeHead(404).end();
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Cast: it listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Bundles the page's script. In your own site your bundler does this. */
const bundled = async (): Promise<string> => {
  const build = await rolldown({ input: fileURLToPath(new URL("page.ts", import.meta.url)), platform: "browser" });
  const { output } = await build.generate({ format: "es" });
  await build.close();
  return output[0].code;
};

/** Answers by a rule. Your own handler calls a model here, with a key that no page sees. */
const reply = async (messages: readonly Message[], response: ServerResponse, pace: number): Promise<void> => {
  const questions = messages.filter(({ role }) => role === "user").map((message) => textOf(message));
  const content = `You asked ${questions.length === 1 ? "one thing" : `${questions.length} things`} so far, the last of them: ${questions.at(-1)}`;
  for (const text of content.split(/(?<= )/)) {
    if (response.destroyed) return;
    response.write(`${JSON.stringify({ delta: { type: "text", text } })}\n`);
    await pause(pace);
  }
  response.end(`${JSON.stringify({ outcome: { type: "completed", reply: { content }, finishReason: "stop" } })}\n`);
};

if (import.meta.main) {
  const site = await serveSite(60);
  console.log(`Open ${site.url} in two tabs; Ctrl-C ends it.`);
  // Without a terminal nobody opens it.
  if (!process.stdout.isTTY) site.close();
}
