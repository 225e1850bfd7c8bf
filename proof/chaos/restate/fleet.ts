import { connect } from "node:net";
import { join } from "node:path";

import { Child } from "../../kit/child.ts";
import { type Later, withCleanup } from "../../kit/cleanup.ts";
import { childCommand, withFault, withProgram } from "../../kit/program.ts";
import { relay, type Take } from "../../kit/proxy.ts";
import { type Fault, mistakes } from "./faults.ts";
import { type Engine, startEngine } from "./restate.ts";
import type { WorkerOptions } from "./worker.ts";

interface FleetOptions {
  readonly program: string;
  readonly workers: number;
  readonly options: WorkerOptions;
  /** The folder of the workers' error logs. */
  readonly folder: string;
  /** Called as a tool or a model call starts, with its worker's place and its name. */
  readonly onRun: (place: number, what: string) => void;
}

/** Starts an engine with one worker, which notes what runs in a file, while `use` runs. */
export const onEngine = <A>(
  folder: string,
  snapshotEvery: number,
  fault: Fault | null,
  use: (engine: Engine, fleet: Fleet, facts: string, later: Later) => Promise<A>,
): Promise<A> =>
  withWorker(fault, (program) =>
    withCleanup(async (later) => {
      const engine = await startEngine(join(folder, "server"), null);
      later(engine.stop);
      const options = { facts: join(folder, "facts"), slackMs: 0, snapshotEvery, redisUrl: null };
      const fleet = await startFleet({ program, workers: 1, folder, options, onRun: () => {} });
      later(() => fleet.stop());
      await engine.register(fleet.url);
      return use(engine, fleet, options.facts, later);
    }),
  );

export const withWorker = <A>(fault: Fault | null, use: (program: string) => Promise<A>): Promise<A> =>
  withProgram(new URL(import.meta.resolve("./worker.ts")), use, withFault(mistakes, fault));

export const startFleet = async (given: FleetOptions): Promise<Fleet> => {
  const balancer = await startBalancer(given.workers);
  const fleet = new Fleet(given, balancer);
  await Promise.all(Array.from({ length: given.workers }, (_, place) => fleet.restart(place)));
  return fleet;
};

export class Fleet {
  readonly url: string;
  readonly #given: FleetOptions;
  readonly #balancer: Balancer;
  readonly #children = new Map<number, Child>();

  constructor(given: FleetOptions, balancer: Balancer) {
    this.#given = given;
    this.#balancer = balancer;
    this.url = `http://127.0.0.1:${balancer.port}`;
  }

  async kill(place: number): Promise<void> {
    this.#balancer.set(place, null);
    await this.#children.get(place)?.kill();
  }

  async restart(place: number): Promise<void> {
    const { program, options, folder, onRun } = this.#given;
    const child = new Child(childCommand(program, options), {
      // The worker ends when this process does, which closes its input.
      hasInput: true,
      log: join(folder, `worker-${place}.log`),
      onLine: (line) => {
        if (!line.startsWith("listens on ")) onRun(place, line);
      },
    });
    this.#children.set(place, child);
    const [, port] = await child.said(/^listens on (\d+)$/u);
    this.#balancer.set(place, Number(port));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((place) => this.kill(place)));
    await this.#balancer.close();
  }
}

/** A balancer in front of several workers, since an engine knows one address for all. */
interface Balancer {
  readonly port: number;
  readonly set: (place: number, port: number | null) => void;
  readonly close: () => Promise<void>;
}

/** Starts a balancer, which gives each new connection to the next living worker, or closes it if there is none. */
export const startBalancer = async (places: number): Promise<Balancer> => {
  const ports: (number | null)[] = Array.from({ length: places }, () => null);
  let turn = 0;
  const nextPlace = (): number => {
    const order = ports.map((_, index) => (turn + index) % places);
    turn += 1;
    return order.find((place) => ports[place] !== null) ?? 0;
  };
  const take: Take = (client, keep) => {
    const port = ports[nextPlace()] ?? null;
    if (port === null) return void client.destroy();
    const worker = keep(connect({ port, host: "127.0.0.1", noDelay: true }));
    client.on("close", () => worker.destroy()).pipe(worker);
    worker.on("close", () => client.destroy()).pipe(client);
  };
  // No delay, as small messages go both ways.
  const { port, close } = await relay(take, { noDelay: true });
  return { port, set: (place, to) => void (ports[place] = to), close };
};
