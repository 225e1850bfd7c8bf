// A separate process that reads streams, so that its CPU and memory do not count as the server's. Each message is a
// job: `{ url, body, times }` reads `times` streams to the end, one after the other; `{ url, body, open }` opens `open`
// streams at once and keeps them. It answers each finished job.
import { Agent, request } from "node:http";
import { z } from "zod";

const job = z.object({ url: z.string(), body: z.string(), times: z.int().default(0), open: z.int().default(0) });

const atOnce = 50;

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Resolves at the first bytes, or at the last. It continues to read a kept stream. */
const streamed = (url: string, body: string, until: "first" | "last"): Promise<number> =>
  new Promise((resolve, reject) => {
    let bytes = 0;
    const sent = request(
      url,
      { agent, method: "POST", headers: { "content-type": "application/json" } },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered with ${response.statusCode}`));
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (until === "first") resolve(bytes);
        });
        response.once("end", () => resolve(bytes));
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });

process.on("message", (message) => {
  const { url, body, times, open } = job.parse(message);
  const work = async (): Promise<number> => {
    let bytes = 0;
    for (let done = 0; done < times; done++) bytes += await streamed(url, body, "last");
    for (let left = open; left > 0; left -= atOnce)
      await Promise.all(Array.from({ length: Math.min(left, atOnce) }, () => streamed(url, body, "first")));
    return bytes;
  };
  work().then(
    (bytes) => process.send?.({ bytes }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once("disconnect", () => process.exit());
