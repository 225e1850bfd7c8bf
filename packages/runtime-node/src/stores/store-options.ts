import { ConfigurationError } from "@colloquy/machine";
import { checkOptions, kinds, type OptionKind, type OptionKinds } from "@colloquy/host/store";

/** @throws ConfigurationError for an invalid option, and if the option that locates the store is missing */
export const checkStoreOptions = <Options extends object>(
  store: string,
  options: Options,
  known: OptionKinds<Partial<Options>>,
  where: readonly (keyof Options & string)[],
): void => {
  checkOptions<Partial<Options>>(store, options, known);
  // An unset environment variable is rejected by the first call, so that a server can be built without it.
  if (!where.some((name) => name in options))
    throw new ConfigurationError(`${store}: ${where.join(" or ")} is missing; it says where the store is`);
};

type Kinds<Names extends string> = { readonly [Name in Names]: OptionKind };

/** The options of stores in files. */
export const fileStoreKinds: Kinds<"clock" | "busyTimeoutMs" | "synchronous" | "erasing"> = {
  clock: kinds.anything,
  busyTimeoutMs: kinds.word(`milliseconds from 0 to ${2 ** 31 - 1}`, (ms) => Number(ms) >= 0 && isTimer(ms)),
  synchronous: kinds.oneOf("NORMAL", "FULL"),
  erasing: kinds.oneOf("at-once", "on-close"),
};

/** The options of stores on servers. */
export const serverStoreKinds: Kinds<"clock" | "timeoutMs"> = {
  clock: kinds.anything,
  timeoutMs: kinds.word("milliseconds, more than 0", (ms) => Number(ms) > 0 && isTimer(ms)),
};

/** Checks whether a timer can measure a time. */
const isTimer = (ms: unknown): boolean => typeof ms === "number" && ms <= 2 ** 31 - 1;
