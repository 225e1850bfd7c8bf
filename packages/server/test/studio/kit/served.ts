import { once } from "node:events";
import { createServer } from "node:http";
import type { Store } from "@colloquy/host";
import { systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";
import { studioRoutes, type StudioOptions } from "../../../src/studio/index.ts";
import type { Trips } from "./trip.ts";

/** A studio that listens on this machine. */
export interface ServedStudio {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves a studio over a store. */
export const serveStudio = async (
  store: Store,
  { host, configurations }: Omit<Trips, "close">,
  options: Partial<StudioOptions> = {},
): Promise<ServedStudio> => {
  const routes = await studioRoutes({
    store,
    configurations,
    clock: systemClock,
    everyMs: 20,
    about: "threads.db",
    models: ["small", "large"],
    ...options,
  });
  const server = threadServer(host, { drainMs: 0 }, routes);
  const answer = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
  const sockets = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(sockets, "listening");
  const address = sockets.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await server.close();
      sockets.closeAllConnections();
      sockets.close();
    },
  };
};
