import { type OptionsByName, runCommand, type ValuesOf } from "./command.ts";
import { fault, oneOf, seed, someOf, whole } from "./options.ts";
import { reportRuns, type SeededRun } from "./report.ts";
import { type ServerName, serverUrl } from "./server-urls.ts";

/** A target of chaos: `pnpm chaos --target NAME`. */
export interface Target<Store extends string, Fault extends string, Options extends OptionsByName> {
  readonly name: string;
  /** The stores on which it runs, one after the other. */
  readonly stores: readonly [Store, ...Store[]];
  /** The target starts the servers of its stores itself. */
  readonly ownServers?: boolean;
  /** Faults that can be built in, to see that each is noticed. */
  readonly faults: Readonly<Record<Fault, string>>;
  /** The default number of runs, and a description of a run. */
  readonly runs: readonly [number, string];
  readonly options?: Options;
  readonly run: (choice: Choice<Store, Fault>, values: ValuesOf<Options>) => Promise<readonly SeededRun[]>;
}

export interface Choice<Store, Fault> {
  readonly store: Store;
  readonly runs: number;
  readonly seed: number;
  readonly fault: Fault | null;
}

export type Command = () => Promise<void>;

/** Makes the command of a target. It leaves out stores whose server is not named, unless they are chosen. */
export const commandOf =
  <Store extends string, Fault extends string, Options extends OptionsByName>(
    target: Target<Store, Fault, Options>,
  ): Command =>
  () => {
    const { name, stores, faults, ownServers = false, options: own = {} } = target;
    const isThere = (store: string): boolean => ownServers || !isServer(store) || serverUrl(store) !== null;
    return runCommand({
      name: "chaos",
      options: {
        ...own,
        target: oneOf([name], name, `${name}; without it the targets are listed`),
        store: someOf(stores, `${stores.join(", ")} (default: one after the other)`),
        runs: whole(...target.runs),
        seed: seed("the seed of all random values; run i has the seed S + i"),
        ...(Object.keys(faults).length > 0 && { fault: fault(faults) }),
      },
      run: async ({ store: named, ...values }, again) => {
        // Each option's own reader has read its value.
        const {
          runs,
          seed,
          fault = null,
        } = values as unknown as Omit<Choice<Store, Fault>, "store" | "fault"> & {
          readonly fault?: Fault | null;
        };
        // Only the target's own options are left.
        const ownValues = Object.fromEntries(
          Object.entries(values).filter(([option]) => Object.hasOwn(own, option)),
        ) as ValuesOf<Options>;
        for (const store of named)
          if (named.length > 1 && !isThere(store)) console.log(`${store}: left out, no server is named`);
          else
            await reportRuns(
              `${name}, ${store}`,
              target.run({ store, runs, seed, fault }, ownValues),
              seed,
              (changes) => again({ ...changes, target: name, store }),
            );
      },
    });
  };

const isServer = (store: string): store is ServerName => store === "postgres" || store === "redis";
