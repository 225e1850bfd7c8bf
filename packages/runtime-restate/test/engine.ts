import { randomUUID } from "node:crypto";
import type { Host } from "@colloquy/host";
import {
  connect,
  type ConnectOptions,
  type Hub,
  memoryHub,
  serve,
  type ServeOptions,
  type Worker,
} from "@colloquy/runtime-restate";
import { afterAll, describe } from "vitest";

/** Registers tests on a Restate. Without one they are skipped, and their name says why. */
export const withRestate = (name: string, tests: (engine: Engine) => void): void => {
  const url = process.env["COLLOQUY_RESTATE_URL"] ?? "";
  const admin = process.env["COLLOQUY_RESTATE_ADMIN_URL"] ?? "";
  const leftOut =
    url === ""
      ? " (left out: COLLOQUY_RESTATE_URL names no server; `pnpm engines:install` gets one, `pnpm servers pnpm test` starts it)"
      : "";
  describe.skipIf(url === "")(`${name}${leftOut}`, () => {
    const engine = new Engine(url, admin);
    afterAll(() => engine.close());
    tests(engine);
  });
};

/** A server of Restate, and the parts that tests start on it. */
export class Engine {
  readonly #url: string;
  readonly #admin: string;
  readonly #closing: (() => Promise<void>)[] = [];

  constructor(url: string, admin: string) {
    this.#url = url;
    this.#admin = admin;
  }

  /** Starts a worker and a host that asks it, under a name of its own. */
  async start(options: Omit<ServeOptions, "port" | "admin">): Promise<Started> {
    const { hub = memoryHub(), name = `thread-${randomUUID()}` } = options;
    const worker = await this.serve({ ...options, hub, name });
    return { worker, host: this.connect({ hub, name }), hub, name };
  }

  async serve(options: ServeOptions): Promise<Worker> {
    const worker = await serve({ port: 0, admin: this.#admin, ...options });
    this.#closing.push(() => worker.close());
    return worker;
  }

  connect(options: Omit<ConnectOptions, "url">): Host {
    const host = connect({ url: this.#url, ...options });
    this.#closing.unshift(() => host.close());
    return host;
  }

  /** Returns rows of Restate's own tables, by SQL. */
  async rows(query: string): Promise<readonly unknown[]> {
    const answer = await fetch(new URL("query", `${this.#admin}/`), {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    const { rows = [] } = (await answer.json()) as { readonly rows?: readonly unknown[] };
    return rows;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
  }
}

export interface Started {
  readonly worker: Worker;
  readonly host: Host;
  readonly hub: Hub;
  readonly name: string;
}
