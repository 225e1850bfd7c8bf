// Compares a reply of 1,000 deltas through the host's handle with iterating its source, in process, and over loopback
// HTTP with iterating the openai SDK's own stream.
import type { Host, LlmHandler } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { openaiChat } from "@colloquy/runtime-node";
import OpenAI from "openai";
import { benchmarkHost } from "./kit/hosts.ts";
import { Reporter } from "./kit/report.ts";
import { deltas, streamedText } from "./kit/work.ts";
import { type Figure, figureOf, pair } from "./kit/measure.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => [
  await inProcess(rounds),
  await overHttp(rounds),
];

const inProcess = async (rounds: number): Promise<Figure> => {
  const host = hostOf(async (_, { onDelta }) => {
    for await (const text of source()) onDelta({ type: "text", text });
    return { type: "completed", reply: { content: streamedText }, finishReason: "stop" };
  });
  const measured = await pair(
    rounds,
    20 * deltas.length,
    () => times(20, () => readFromHost(host)),
    () =>
      times(20, async () => {
        let text = "";
        for await (const delta of source()) text += delta;
        expectWhole(text);
      }),
  );
  await host.close();
  return figureOf("a delta in process / a raw async iterator", measured, Infinity);
};

const overHttp = async (rounds: number): Promise<Figure> => {
  const server = new Reporter(new URL("stream-server.ts", import.meta.url));
  const port = await server.next<number>();
  const client = new OpenAI({ apiKey: "none", baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
  const host = hostOf(openaiChat({ client, model: "bench" }));
  const measured = await pair(
    rounds,
    20 * deltas.length,
    () => times(20, () => readFromHost(host)),
    () => times(20, () => readFromSdk(client)),
  );
  await host.close();
  await server.end();
  return figureOf("a delta over HTTP / iterating the SDK's own stream", measured, 1);
};

const hostOf = (llm: LlmHandler): Host =>
  benchmarkHost({ machine: conversationMachine({ policy: lastTurns(0) }), llm, tools: [] });

async function* source(): AsyncGenerator<string, void, void> {
  for (const delta of deltas) yield delta;
}

const readFromHost = async (host: Host): Promise<void> => {
  let text = "";
  for await (const part of host.ask("go")) if (part.type === "text.delta") text += part.text;
  expectWhole(text);
};

const readFromSdk = async (client: OpenAI): Promise<void> => {
  let text = "";
  const messages = [{ role: "user" as const, content: "go" }];
  const stream = await client.chat.completions.create({ model: "bench", stream: true, messages });
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  expectWhole(text);
};

const expectWhole = (text: string): void => {
  if (text !== streamedText)
    throw new Error(`the stream came as ${text.length} characters, not ${streamedText.length}`);
};

const times = async (count: number, work: () => Promise<void>): Promise<void> => {
  for (let done = 0; done < count; done++) await work();
};
