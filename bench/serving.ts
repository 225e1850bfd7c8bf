// Measures threads over HTTP: an answer of 1,000 deltas through the server, against the same host after a handwritten
// handler of node:http. Also measures open streams that carry nothing.
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { LlmHandler } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { threadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";
import { type Figure, figureOf, pair } from "./kit/measure.ts";
import { benchmarkHost } from "./kit/hosts.ts";
import { reportOf } from "./kit/report.ts";
import { deltas, streamedText } from "./kit/work.ts";
import type { IdleStreams } from "./serving/idle-streams.ts";
import { listening, Reader } from "./serving/reading.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => [
  await streamedAnswer(rounds),
  await idleStreams(),
];

const times = 20;

/** Streams the deltas, and lets the server write each before the next. */
const llm: LlmHandler = async (_, { onDelta }) => {
  for (const text of deltas) {
    onDelta({ type: "text", text });
    await Promise.resolve();
  }
  return { type: "completed", reply: { content: streamedText }, finishReason: "stop" };
};

const streamedAnswer = async (rounds: number): Promise<Figure> => {
  const host = benchmarkHost({ machine: conversationMachine({ policy: lastTurns(0) }), llm, tools: [] });
  const server = threadServer(host);
  const listener = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
  const ours = await listening((request, response) => void listener(request, response));
  /** Writes the same deltas as the same events, and nothing else. */
  const byHand = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const item = { item_id: `msg_1_1_0_${randomUUID()}`, output_index: 0, content_index: 0 };
    let number = 0;
    for await (const part of host.ask("go", { threadId: "new" })) {
      if (part.type !== "text.delta") continue;
      const type = "response.output_text.delta";
      const event = { type, ...item, delta: part.text, logprobs: [], sequence_number: number++ };
      response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  };
  const bare = await listening((request, response) => {
    request.resume().on("end", () => void byHand(response));
  });
  const reader = new Reader();
  const read = (url: string): Promise<number> =>
    reader.read({ url, body: JSON.stringify({ input: "go", stream: true }), times });
  const measured = await pair(
    rounds,
    times * deltas.length,
    () => read(`${ours.url}/v1/responses`),
    () => read(bare.url),
  );
  await reader.close();
  for (const each of [ours.server, bare.server]) each.close().closeAllConnections();
  await server.close();
  await host.close();
  return figureOf("a delta through the server / by hand over node:http", measured, 3);
};

const idleStreams = async (): Promise<Figure> => {
  const count = 1_000;
  const { resident, used } = await reportOf<IdleStreams>(
    new URL("serving/idle-streams.ts", import.meta.url),
    [String(count)],
    ["--expose-gc"],
  );
  return {
    name: `MB for ${count} streams that are open and say nothing`,
    value: used / 1e6,
    most: 100,
    note: `in use, their threads and asks included; the process grew by ${Math.round(resident / 1e6)} MB`,
  };
};
