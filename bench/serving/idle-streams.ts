// A process that reports the memory of COUNT open, silent streams: asks over HTTP whose models have begun to answer.
// Run it with --expose-gc: idle-streams.ts COUNT
import { textOf } from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";
import { type Job, listening, Reader } from "./reading.ts";

export interface IdleStreams {
  /** The growth of live heap and of memory outside the heap. */
  readonly used: number;
  /** The growth of the process, including free heap. */
  readonly resident: number;
}

const measured = async (count: number): Promise<IdleStreams> => {
  const host = createHost({
    store: memoryStore(),
    llm: async ({ messages }, { onDelta, signal }) => {
      onDelta({ type: "text", text: "Well," });
      if (messages.some((message) => textOf(message) === "warm up"))
        return { type: "completed", reply: { content: "Well," }, finishReason: "stop" };
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled"))));
    },
    // The asks are cancelled at the end.
    onObserverError: () => {},
  });
  const server = threadServer(host, { drainMs: 0, responses: { keepMs: 0 } });
  const listener = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
  const { server: sockets, url } = await listening((request, response) => void listener(request, response));
  const reader = new Reader();
  const read = (input: string, how: Pick<Job, "times" | "open">): Promise<number> =>
    reader.read({ url: `${url}/v1/responses`, body: JSON.stringify({ input, stream: true }), ...how });
  // These reads compile the code, which must not count.
  await read("warm up", { times: 200 });
  const before = memory();
  await read("wait", { open: count });
  const after = memory();
  await reader.close();
  await server.close();
  sockets.close();
  sockets.closeAllConnections();
  await host.close();
  return { resident: after.resident - before.resident, used: after.used - before.used };
};

const memory = (): IdleStreams => {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  globalThis.gc();
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  return { used: rss - heapTotal + heapUsed, resident: rss };
};

const [, , count] = process.argv;
process.send?.(await measured(Number(count)));
process.disconnect?.();
