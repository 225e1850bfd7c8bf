// A Restate server with workers beside it, and their costs and stored bytes.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import type { Host } from "@colloquy/host";
import { connect } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import { newFolder, removeFolder } from "../../proof/kit/folder.ts";
import { withCleanup } from "../../proof/kit/cleanup.ts";
import { type RestateServer, startRestate } from "../../proof/servers/restate.ts";
import { Reporter } from "../kit/report.ts";
import type { EngineWorkerOptions, WorkerFacts } from "./engine-worker.ts";
import { microsOf } from "./place-facts.ts";

export interface EngineFacts {
  readonly micros: number;
  /** The bytes written to the disk, as Linux counts them. */
  readonly written: number;
  readonly resident: number;
}

/** The state of threads, by the kinds of its keys. */
export interface KeptState {
  readonly kind: string;
  readonly count: number;
  readonly bytes: number;
}

/** A server with its folder, which is removed with it. */
export class EnginePlace {
  readonly #folder: string;
  readonly #workers: EngineWorker[] = [];
  #server: RestateServer;

  private constructor(folder: string, server: RestateServer) {
    this.#folder = folder;
    this.#server = server;
  }

  static async start(): Promise<EnginePlace> {
    const folder = newFolder("scale");
    return new EnginePlace(folder, await startRestate({ folder }));
  }

  get url(): string {
    return this.#server.url;
  }

  async startWorker(options: Omit<EngineWorkerOptions, "admin">): Promise<EngineWorker> {
    const given: EngineWorkerOptions = { ...options, admin: this.#server.adminUrl };
    const reporter = new Reporter(new URL("engine-worker.ts", import.meta.url), [JSON.stringify(given)]);
    const worker = new EngineWorker(reporter, await reporter.next<string>());
    this.#workers.push(worker);
    return worker;
  }

  facts(): EngineFacts {
    const { pid } = this.#server;
    const find = (file: string, line: RegExp): number =>
      Number(line.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1] ?? Number.NaN);
    return {
      micros: microsOf(pid),
      written: find("io", /^write_bytes: (\d+)$/mu),
      resident: find("status", /^VmRSS:\s+(\d+) kB$/mu) * 1_024,
    };
  }

  /** The folders of its databases, and the bytes of their files. */
  disk(): Readonly<Record<string, number>> {
    const [node] = readdirSync(join(this.#folder, "data"));
    const data = join(this.#folder, "data", node ?? "");
    const folders = readdirSync(data, { withFileTypes: true }).filter((each) => each.isDirectory());
    return Object.fromEntries(folders.map(({ name }) => [name, bytesIn(join(data, name))]));
  }

  /** Stops the server, which writes its memory to the disk, and starts it again. */
  async restart(): Promise<void> {
    const { ports } = this.#server;
    await this.#server.stop();
    this.#server = await startRestate({ folder: this.#folder, ports });
  }

  async kept(): Promise<readonly KeptState[]> {
    const rows = await this.query(
      "SELECT split_part(key, ' ', 1) AS kind, count(*) AS count, sum(length(value)) AS bytes FROM state GROUP BY 1",
    );
    // Cast: the query names these columns.
    return rows as readonly KeptState[];
  }

  async query(query: string): Promise<readonly unknown[]> {
    const answer = await fetch(`${this.#server.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    if (!answer.ok) throw new Error(`Restate did not answer a query (${answer.status}): ${await answer.text()}`);
    // Cast: the server answers so if JSON is accepted.
    return ((await answer.json()) as { readonly rows: readonly unknown[] }).rows;
  }

  async drop(): Promise<void> {
    for (const worker of this.#workers) await worker.stop();
    await this.#server.stop();
    removeFolder(this.#folder);
  }
}

/**
 * Starts a server while `use` runs, with hosts that ask it, each of which knows no thread. Their hub is in a Redis; null:
 * they poll the journals.
 */
export const onEngine = <A>(
  redisUrl: string | null,
  use: (place: EnginePlace, newHost: () => Host) => Promise<A>,
): Promise<A> =>
  withCleanup(async (later) => {
    const place = await EnginePlace.start();
    later(() => place.drop());
    const hub = redisUrl === null ? null : redisHub({ url: redisUrl });
    if (hub !== null) later(() => hub.close());
    return use(place, () => {
      const host = connect({ url: place.url, ...(hub === null ? { pollMs: 20 } : { hub }) });
      later(() => host.close());
      return host;
    });
  });

export class EngineWorker {
  readonly port: number;
  readonly #reporter: Reporter;

  constructor(reporter: Reporter, url: string) {
    this.#reporter = reporter;
    this.port = Number(new URL(url).port);
  }

  facts(): Promise<WorkerFacts> {
    return this.#reporter.next<WorkerFacts>("facts");
  }

  stop(): Promise<void> {
    return this.#reporter.end();
  }
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .reduce((bytes, { parentPath, name }) => bytes + statSync(join(parentPath, name)).blocks * 512, 0);
