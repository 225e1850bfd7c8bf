import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";

/** The streams that the reader process has to read. */
export interface Job {
  readonly url: string;
  readonly body: string;
  /** The number of streams to read to the end, one after the other. */
  readonly times?: number;
  /** The number of streams to open at once and keep. */
  readonly open?: number;
}

/** Reads streams in another process. */
export class Reader {
  readonly #child: ChildProcess = spawn(process.execPath, [new URL("reader.ts", import.meta.url).pathname], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });

  /** Has the process read. Returns the number of received bytes. */
  async read(job: Job): Promise<number> {
    this.#child.send(job);
    const [answer] = (await once(this.#child, "message")) as [{ readonly bytes?: number; readonly error?: string }];
    if (answer.bytes === undefined) throw new Error(`the reader failed: ${answer.error}`);
    return answer.bytes;
  }

  close(): void {
    this.#child.disconnect();
  }
}

/** Starts a server on loopback. Returns it with its address. */
export const listening = async (
  listener: RequestListener,
): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` };
};
