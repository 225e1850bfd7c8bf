import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";

import { endChild, freePort, type Server, startProgram } from "./process.ts";
import { restateProgram } from "./restate-package.ts";

/** A Restate of ours. Its `url` is the ingress: where handlers are called. */
export interface RestateServer extends Server {
  /** Where deployments are registered, and what it holds is queried. */
  readonly adminUrl: string;
  readonly ports: RestatePorts;
  /** Ends it by SIGKILL, and waits for its end. */
  readonly kill: () => Promise<void>;
}

/** The ports of one server, all of 127.0.0.1. */
export interface RestatePorts {
  readonly ingress: number;
  readonly admin: number;
  readonly node: number;
}

export interface RestateOptions {
  /** An empty folder, or one that an earlier server of this kind left. */
  readonly folder: string;
  /** Those of the earlier one, which its data names. Default: free ones. */
  readonly ports?: RestatePorts;
  /** How many calls it has at a time on one connection to workers; fewer are spread over more of them. Default: its own, 128. */
  readonly streamsPerConnection?: number;
}

/**
 * Starts a Restate of our own, and waits until it takes calls.
 *
 * @throws Error where it is not installed, or does not start
 */
export const startRestate = async (options: RestateOptions): Promise<RestateServer> => {
  const path = restateProgram();
  if (path === null) throw new Error("there is no Restate server; `pnpm engines:install` gets it, some 220 MB");
  const { folder, streamsPerConnection = 128 } = options;
  const own = options.ports ?? { ingress: await freePort(), admin: await freePort(), node: await freePort() };
  mkdirSync(folder, { recursive: true });
  const settings = join(folder, "restate.toml");
  writeFileSync(settings, settingsFor(folder, own, streamsPerConnection));
  const child = await startProgram({ path, libraries: null, user: null }, ["--config-file", settings], isReady);
  return {
    url: `http://127.0.0.1:${own.ingress}`,
    adminUrl: `http://127.0.0.1:${own.admin}`,
    ports: own,
    pid: child.pid ?? 0,
    stop: () => endChild(child, "SIGTERM"),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
};

const partitions = 4;

const settingsFor = (
  folder: string,
  { ingress, admin, node }: RestatePorts,
  streamsPerConnection: number,
): string => `bind-ip = "127.0.0.1"
bind-port = ${node}
listen-mode = "tcp"
base-dir = ${JSON.stringify(join(folder, "data"))}
node-name = "only"
default-num-partitions = ${partitions}
disable-telemetry = true
log-filter = "warn,octocrab=off,restate_worker::partition::leadership=info,restate_admin::service=info"
log-format = "compact"
log-disable-ansi-codes = true

[ingress]
bind-port = ${ingress}

[admin]
bind-port = ${admin}
disable-web-ui = true

[worker.invoker]
http2-streams-per-connection-limit = ${streamsPerConnection}
`;

/** Each partition takes calls only when its processor leads. */
const isReady = new RegExp(`^(?=[^]*?Admin API starting)(?:[^]*?Processor became Leader){${partitions}}`);
