import { once } from "node:events";
import { type AddressInfo, connect, createServer, type ServerOpts, type Socket } from "node:net";

export interface Proxy {
  readonly url: string;
  /** Breaks all connections, and refuses new ones until `open`. */
  readonly shut: () => Promise<void>;
  readonly open: () => Promise<void>;
  /** Accepts all data but passes none on, in either direction, like a dead network. */
  readonly hold: () => void;
  /** Passes on the held data, even of clients that have left. Resolves when the server has answered it. */
  readonly deliver: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const proxyTo = async (target: string): Promise<Proxy> => {
  const url = new URL(target);
  const [host, portBehind] = [url.hostname, Number(url.port)];
  const ways = new Set<Way>();
  let held = false;
  const take: Take = (client, keep) => {
    const way: Way = { client, server: keep(connect(portBehind, host)), held: [] };
    ways.add(way);
    const pass = (from: Socket, to: Socket): void => {
      from.on("data", (bytes) => {
        if (held) way.held.push({ to, bytes });
        else to.write(bytes);
      });
    };
    client.on("close", () => {
      // Not destroyed: the server still does what was passed on.
      if (!held) way.server.end();
    });
    way.server.on("close", () => {
      client.destroy();
      ways.delete(way);
    });
    pass(client, way.server);
    pass(way.server, client);
  };
  let server = await relay(take);
  const { port } = server;
  const shut = (): Promise<void> => server.close();
  url.port = String(port);
  return {
    url: url.href,
    shut,
    open: async () => {
      held = false;
      server = await relay(take, {}, port);
    },
    hold: () => {
      held = true;
    },
    deliver: async () => {
      held = false;
      const answers = [...ways].filter((way) => way.held.some(({ to }) => to === way.server)).map(answered);
      for (const way of ways) {
        for (const { to, bytes } of way.held.splice(0)) to.write(bytes);
        if (way.client.destroyed) way.server.end();
      }
      await Promise.all(answers);
    },
    close: shut,
  };
};

interface Way {
  readonly client: Socket;
  readonly server: Socket;
  readonly held: { readonly to: Socket; readonly bytes: Buffer }[];
}

/** Resolves when the server sends data or closes the connection. */
const answered = async ({ server }: Way): Promise<void> => {
  // A connection outlives many waits, so the losing one of these two listeners must be removed.
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(server, "data", { signal }), once(server, "close", { signal })]);
  } finally {
    over.abort();
  }
};

/** Takes a client of a relay. `keep` makes another socket end with the relay. */
export type Take = (client: Socket, keep: (socket: Socket) => Socket) => void;

interface Relay {
  readonly port: number;
  /** Destroys all its sockets, and listens no more. */
  readonly close: () => Promise<void>;
}

/** Listens on a port of 127.0.0.1; 0 for a free one. */
export const relay = async (take: Take, options: ServerOpts = {}, listenAt = 0): Promise<Relay> => {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer(options, (client) => take(keep(client), keep)).listen(listenAt, "127.0.0.1");
  await once(server, "listening");
  return {
    // It listens on a port.
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
