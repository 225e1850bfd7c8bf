import type { Server } from "node:http";

/** A listening server. */
export interface Listening {
  readonly port: number;
  /** Stops the server, and closes open sockets at once. */
  readonly close: () => Promise<void>;
}

/** Starts a server on 127.0.0.1; port 0 means any free port. Rejects if the port is in use. */
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
    // The address is null or a path only if the server does not listen on a port.
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
