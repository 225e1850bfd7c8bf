import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";

import { endChild, freePort, type Server, startProgram } from "./process.ts";
import { restateProgram } from "./restate-package.ts";

/** A Restate. Its `url` is the ingress, where handlers are called. */
export interface RestateServer extends Server {
  /** The address of the admin API, where deployments are registered and state is queried. */
  readonly adminUrl: string;
  readonly ports: RestatePorts;
  readonly kill: () => Promise<void>;
}

/** The ports of one server, all of 127.0.0.1. */
export interface RestatePorts {
  readonly ingress: number;
  readonly admin: number;
  readonly node: number;
}

export interface RestateOptions {
  /** A folder that is empty or that an earlier such server left. */
  readonly folder: string;
  /** The ports of the earlier server, which its data contains. Default: free ports. */
  readonly ports?: RestatePorts;
  /** The concurrent calls on one connection to workers; fewer use more connections. Default: Restate's own, 128. */
  readonly streamsPerConnection?: number;
}

/**
 * Starts a Restate, and waits until it takes calls.
 *
 * @throws Error if it is not installed, or does not start
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

/** A partition takes calls once its processor leads. */
const isReady = new RegExp(`^(?=[^]*?Admin API starting)(?:[^]*?Processor became Leader){${partitions}}`);
