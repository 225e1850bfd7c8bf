import type { Server } from "node:http";

/** A server that listens. */
export interface Listening {
  readonly port: number;
  /** Stops, and ends open sockets at once. */
  readonly close: () => Promise<void>;
}

/** Has a server listen on 127.0.0.1; port 0 is any that is free. Rejects if the port is taken. */
export const listen = async (server: Server, port: number): Promise<Listening> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    // Null or a path only for servers that do not listen on a port.
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
