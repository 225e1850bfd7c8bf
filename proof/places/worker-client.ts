import { z } from "zod";

/** The milliseconds that any wait may take. That is much more than needed, so that only a missing event ends it. */
export const patienceMs = 30_000;

export type Said = z.infer<typeof saidSchema>;

const saidSchema = z.object({
  said: z.array(z.object({ role: z.string(), text: z.string() })),
  notes: z.array(z.object({ note: z.string() })),
});

export const saidOn = async (url: string, thread: string): Promise<Said> => {
  const response = await fetch(`${url}/${thread}`, { signal: AbortSignal.timeout(patienceMs) });
  return saidSchema.parse(await response.json());
};

interface Question {
  readonly thread: string;
  readonly text: string;
  readonly key: string;
  /** Whether the client leaves at the first event, which shows that the question is stored. */
  readonly leaves?: boolean;
}

/**
 * Asks, and returns the answer; null if the client left as planned. Throws a `TypeError` if the connection ends before
 * the answer, as `fetch` does, and an `Error` with the worker's text if it refuses.
 */
export const askOn = async (url: string, { thread, text, key, leaves = false }: Question): Promise<string | null> => {
  const headers = { "idempotency-key": key };
  const signal = AbortSignal.timeout(patienceMs);
  const response = await fetch(`${url}/${thread}`, { method: "POST", body: text, headers, signal });
  if (response.body === null || !response.ok) throw new Error(`${response.status} ${await response.text()}`);
  let read = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    read += chunk;
    // Leaving the loop cancels the body, which closes the connection.
    if (leaves && read.includes("\n\n")) return null;
  }
  const [, type, data] = /event: (answer|error)\ndata: (.*)\n\n$/.exec(read) ?? [];
  if (data === undefined) throw new TypeError("the connection ended before the answer");
  const value = z.string().parse(JSON.parse(data));
  if (type === "error") throw new Error(value);
  return value;
};
