import { createServer, type Server } from "node:http";
import { isIPv6 } from "node:net";
import type { ThreadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";

/** Where a server listens. */
export interface ListeningPlace {
  /** 0 draws one. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** How long a request may take to come in: its head, and all of it, in milliseconds. Default 10,000 and 30,000. */
  readonly headMs?: number;
  readonly requestMs?: number;
}

/** A server that listens. */
export interface Listening {
  /** As `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Refuses what comes, waits for what is under way as the server does, and closes all connections. */
  close(): Promise<void>;
}

/**
 * Has a server listen on this machine. Requests that come in slowly are cut, so that none holds a connection for ever.
 *
 * @throws Error where the port is taken or not free to use, or the address is not this machine's; in words that name it
 */
export const listen = async (server: ThreadServer, place: ListeningPlace): Promise<Listening> => {
  const { port, address = "127.0.0.1", headMs = 10_000, requestMs = 30_000 } = place;
  const answer = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
  const sockets = createServer(
    {
      headersTimeout: Math.min(headMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(headMs, 1_000),
    },
    (request, response) => void answer(request, response),
  );
  await begun(sockets, port, address);
  const bound = sockets.address();
  const boundPort = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${boundPort}`,
    port: boundPort,
    close: async () => {
      // New connections are still answered, with 503: somebody in between then knows to ask another.
      await server.close();
      const closed = new Promise((resolve) => sockets.close(resolve));
      sockets.closeAllConnections();
      await closed;
    },
  };
};

/** Whether only this machine reaches an address. */
export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);

const begun = (sockets: Server, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    sockets.once("error", (cause: NodeJS.ErrnoException) => {
      const problem = problemOf(cause.code, port, address);
      reject(problem === null ? cause : new Error(problem, { cause }));
    });
    sockets.listen(port, address, resolve);
  });

const problemOf = (code: string | undefined, port: number, address: string): string | null => {
  if (code === "EADDRINUSE")
    return `port ${port} of ${address} is taken; give another as --port, or 0 for one that is free`;
  if (code === "EACCES")
    return `this user may not listen on port ${port}; give one from 1024 on as --port, or 0 for one that is free`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `"${address}" is no address of this machine; give one that is as --host, such as 127.0.0.1, or 0.0.0.0 for all`;
  return null;
};
