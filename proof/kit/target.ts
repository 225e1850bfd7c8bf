import { runCommand } from "./command.ts";
import { type Again, type OptionsByName, type ValuesOf } from "./command.ts";
import { fault, oneOf, seed, someOf, whole } from "./options.ts";
import { reportRuns, type SeededRun } from "./seeded-runs.ts";
import { serverUrl } from "./server-urls.ts";

/** Something that chaos is brought to: `pnpm chaos --target NAME`. */
export interface Target<
  Store extends string,
  Fault extends string,
  Run extends SeededRun,
  Options extends OptionsByName,
> {
  readonly name: string;
  /** The stores that it is brought to, one after the other. */
  readonly stores: readonly [Store, ...Store[]];
  /** It starts the servers of its stores itself. */
  readonly ownServers?: boolean;
  /** Mistakes that can be built in, to see that each is noticed. */
  readonly faults: Readonly<Record<Fault, string>>;
  /** How many runs there are if the command does not say, and what a run is. */
  readonly runs: readonly [number, string];
  /** Further options. */
  readonly options?: Options;
  readonly run: (choice: Choice<Store, Fault>, values: ValuesOf<Options>) => Promise<readonly Run[]>;
  /** Reports runs without a violation, for a reader. */
  readonly totals: (runs: readonly Run[]) => string;
}

export interface Choice<Store, Fault> {
  readonly store: Store;
  readonly runs: number;
  readonly seed: number;
  readonly fault: Fault | null;
}

/** A target as the command calls it. */
export type Command = () => Promise<void>;

/** The command of a target. Of stores that are not named, it leaves out those whose server is not there. */
export const commandOf = <
  Store extends string,
  Fault extends string,
  Run extends SeededRun,
  Options extends OptionsByName,
>(
  target: Target<Store, Fault, Run, Options>,
): Command => {
  const {
    name,
    stores,
    faults,
    runs: [runs, aRun],
  } = target;
  return () =>
    runCommand({
      name: "chaos",
      options: {
        ...target.options,
        target: oneOf([name], name, `${name}; without it the targets are listed`),
        store: someOf(stores, `${stores.join(", ")} (default: one after the other)`),
        runs: whole(runs, aRun),
        seed: seed("what all that is drawn follows from; run i has the seed S + i"),
        ...(Object.keys(faults).length > 0 && { fault: fault(faults) }),
      },
      run: async (values, again) => {
        // Each was read by the option of its name.
        const {
          store: named,
          runs,
          seed,
          fault,
        } = values as unknown as Omit<Choice<Store, Fault>, "store"> & {
          readonly store: readonly Store[];
        };
        const isOwn = ([option]: readonly [string, unknown]): boolean => Object.hasOwn(target.options ?? {}, option);
        // Only the target's own ones are left.
        const own = Object.fromEntries(Object.entries(values).filter(isOwn)) as ValuesOf<Options>;
        for (const store of named) {
          if (named.length > 1 && target.ownServers !== true && !isThere(store))
            console.log(`${store}: left out, no server is named`);
          else await report(target, { store, runs, seed, fault: fault ?? null }, own, again);
        }
      },
    });
};

const report = <Store extends string, Fault extends string, Run extends SeededRun, Options extends OptionsByName>(
  target: Target<Store, Fault, Run, Options>,
  choice: Choice<Store, Fault>,
  values: ValuesOf<Options>,
  again: Again,
): Promise<void> =>
  reportRuns(
    target.run(choice, values),
    (done) => `${target.name}, ${choice.store}: ${target.totals(done)}`,
    choice.seed,
    (changes) => again({ ...changes, target: target.name, store: choice.store }),
  );

const isThere = (store: string): boolean => (store !== "postgres" && store !== "redis") || serverUrl(store) !== null;
