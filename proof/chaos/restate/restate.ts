import { setTimeout as pause } from "node:timers/promises";

import type { Host } from "@colloquy/host";
import { connect } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import { type RestateServer, startRestate } from "../../servers/restate.ts";

export interface Engine {
  readonly name: string;
  readonly host: Host;
  readonly register: (url: string) => Promise<void>;
  /** Kills the engine with SIGKILL, and starts it again on its data. */
  readonly kill: (awayMs: number) => Promise<void>;
  /** Lists the messages that it will send to threads later. */
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

/** Starts a Restate, and a host that a Redis shows what happens; without one it polls the journals. */
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
      // A row has no time unless all of its columns are read.
      const rows = await query(server, "SELECT * FROM sys_invocation WHERE status = 'scheduled'");
      // Two of the table's columns.
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
  // The form in which the admin API answers queries for JSON.
  return ((await answer.json()) as { readonly rows?: readonly unknown[] }).rows ?? [];
};

const post = async (url: string, body: unknown): Promise<Response> => {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer;
};
