// The server that answers other projects' clients, and the events of its streams.
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { type ScriptedModel, scriptedModel } from "@colloquy/runtime-test/models";
import { threadServer } from "@colloquy/server";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { line, scriptLine } from "./table.ts";

export interface Served {
  readonly model: ScriptedModel;
  /** Sends a request, with a body or without one. */
  readonly fetch: (path: string, body?: object) => Promise<Response>;
}

/** A tool of the client, for both protocols. */
const seat = { name: "seat", description: "Where the user sits.", input: { jsonSchema: { type: "object" } } };

export const serverOf = (script: readonly z.infer<typeof line>[]): Served => {
  const model = scriptedModel(script.map(scriptLine));
  const host = createHost({
    llm: model,
    store: memoryStore(),
    clock: runningClock(),
    ids: sequentialIds(),
    tools: [
      tool({ ...named("weather"), input: z.object({ city: z.string() }), run: () => ({ weather: "sunny" }) }),
      tool({ ...named("broken"), input: z.object({}), run: () => Promise.reject(new Error("test error")) }),
      tool({ ...named("pay"), input: z.object({ value: z.string() }), approval: "always", run: () => "result1" }),
    ],
    machine: { retry: { attempts: 2 } },
  });
  onTestFinished(() => host.close());
  const server = threadServer(host, { ui: { tools: [seat] } });
  const fetch = async (path: string, body?: object) =>
    server.fetch(
      new Request(
        `http://localhost${path}`,
        body === undefined
          ? {}
          : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
      ),
    );
  return { model, fetch };
};

const named = (name: string) => ({ name, description: `The tool ${name}.` });

/** An event of a stream: its name, if it has one, and its data. */
export interface Sent {
  readonly event: string | null;
  readonly data: string;
}

/** Reads server-sent events. */
export const sentIn = (text: string): readonly Sent[] =>
  text.split("\n\n").flatMap((block) => {
    const fields = block.split("\n").map((each) => each.split(/: (.*)/su));
    const of = (name: string) => fields.find(([field]) => field === name)?.[1];
    const data = of("data");
    return data === undefined ? [] : [{ event: of("event") ?? null, data }];
  });

/** Leaves out repeated deltas, since a text may come in any number of them. */
export const withoutRepeats = (types: readonly string[]): readonly string[] =>
  types.filter((type, index) => !type.endsWith("delta") || types[index - 1] !== type);
