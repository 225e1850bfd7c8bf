import { setTimeout as pause } from "node:timers/promises";

import type { Host } from "@colloquy/host";
import { connect } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import { type RestateServer, startRestate } from "../../servers/restate.ts";

/** An engine that can be killed, with a host that asks by it. */
export interface Engine {
  readonly name: string;
  /** Asks it, over all kills. */
  readonly host: Host;
  /** Tells it where its workers are. */
  readonly register: (url: string) => Promise<void>;
  /** Kills it with SIGKILL, and starts it again on what it left. */
  readonly kill: (awayMs: number) => Promise<void>;
  /** The messages that it will send to threads later. */
  readonly timers: () => Promise<readonly Timer[]>;
  readonly stop: () => Promise<void>;
}

interface Scheduled {
  readonly target_service_key: string;
  readonly scheduled_start_at: string;
}

export interface Timer {
  readonly thread: string;
  readonly at: string;
}

/** Starts a Restate in a folder, and a host that is shown what happens by a Redis; where that is null, it looks into journals. */
export const startEngine = async (folder: string, redisUrl: string | null): Promise<Engine> => {
  let server = await startRestate({ folder, streamsPerConnection: 4 });
  const hub = redisUrl === null ? null : redisHub({ url: redisUrl });
  const host = connect({ url: server.url, ...(hub && { hub }) });
  return {
    name: "Restate",
    host,
    register: (url) => register(server, url),
    kill: async (awayMs) => {
      const { ports } = server;
      await server.kill();
      await pause(awayMs);
      server = await startRestate({ folder, ports, streamsPerConnection: 4 });
    },
    timers: async () => {
      // Of a row that is not read whole it leaves out the time.
      const rows = await query(server, "SELECT * FROM sys_invocation WHERE status = 'scheduled'");
      // Two of the columns of that table.
      return (rows as readonly Scheduled[]).map((row) => ({
        thread: row.target_service_key,
        at: row.scheduled_start_at,
      }));
    },
    stop: async () => {
      await host.close();
      await hub?.close();
      await server.stop();
    },
  };
};

const register = async ({ adminUrl }: RestateServer, uri: string): Promise<void> => {
  await post(`${adminUrl}/deployments`, { uri });
};

const query = async ({ adminUrl }: RestateServer, text: string): Promise<readonly unknown[]> => {
  const answer = await post(`${adminUrl}/query`, { query: text });
  // As its administration answers queries that ask for JSON.
  return ((await answer.json()) as { readonly rows?: readonly unknown[] }).rows ?? [];
};

const post = async (url: string, body: unknown): Promise<Response> => {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer;
};
