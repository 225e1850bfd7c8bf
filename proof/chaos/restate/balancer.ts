import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands before several workers: an engine knows one address for all of them. */
export interface Balancer {
  readonly port: number;
  /** The worker of a place listens on this port; null: there is none for now. */
  readonly set: (place: number, port: number | null) => void;
  readonly close: () => Promise<void>;
}

/** Passes each new connection on to the next worker that is there. Without any it is closed, as a port without a listener would. */
export const startBalancer = async (places: number): Promise<Balancer> => {
  const ports: (number | null)[] = Array.from({ length: places }, () => null);
  const sockets = new Set<Socket>();
  let turn = 0;
  const nextPlace = (): number => {
    const order = ports.map((_, index) => (turn + index) % places);
    turn += 1;
    return order.find((place) => ports[place] !== null) ?? 0;
  };
  // Small messages go to and fro: none waits for more to go with it.
  const server = createServer({ noDelay: true }, (client) => {
    const place = nextPlace();
    const port = ports[place] ?? null;
    if (port === null) return void client.destroy();
    const worker = connect({ port, host: "127.0.0.1", noDelay: true });
    for (const [one, other] of [
      [client, worker],
      [worker, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => one.destroy()).on("close", () => void (sockets.delete(one), other.destroy()));
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // It listens on a port.
    port: (server.address() as AddressInfo).port,
    set: (place, port) => void (ports[place] = port),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
