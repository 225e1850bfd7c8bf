import { createServer, type Server } from "node:http";
import { isIPv6 } from "node:net";
import type { ThreadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";

/** The address and the time limits of a server. */
export interface ListeningPlace {
  /** 0 means any free port. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** The time limits of a request, in milliseconds: for its head, and for all of it. Default 10,000 and 30,000. */
  readonly headMs?: number;
  readonly requestMs?: number;
}

/** A listening server. */
export interface Listening {
  /** The URL, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, waits for running ones as the server does, and closes all connections. */
  close(): Promise<void>;
}

/**
 * Lets a server listen on this machine. Slow requests are cut off, so that none holds a connection forever.
 *
 * @throws Error if the port is in use or not allowed, or the address is not this machine's; the message names it
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
      // New connections still get the answer 503, so that a proxy can try another server.
      await server.close();
      const closed = new Promise((resolve) => sockets.close(resolve));
      sockets.closeAllConnections();
      await closed;
    },
  };
};

/** Returns whether only this machine can reach an address. */
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
