import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";

import { Reporter } from "../kit/report.ts";

export interface Job {
  readonly url: string;
  readonly body: string;
  /** The number of streams to read to the end, one after the other. */
  readonly times?: number;
  /** The number of streams to open at once and keep. */
  readonly open?: number;
}

export class Reader {
  readonly #process = new Reporter(new URL("reader.ts", import.meta.url));

  async read(job: Job): Promise<number> {
    const answer = await this.#process.next<{ readonly bytes?: number; readonly error?: string }>(job);
    if (answer.bytes === undefined) throw new Error(`the reader failed: ${answer.error}`);
    return answer.bytes;
  }

  close(): Promise<void> {
    return this.#process.end();
  }
}

export const listening = async (
  listener: RequestListener,
): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` };
};
