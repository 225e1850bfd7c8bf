import { ConfigurationError } from "@colloquy/machine";
import { checkOptions, type OptionKinds } from "@colloquy/host/store";

/** @throws ConfigurationError for an unknown option, and if the option that locates the store is missing */
export const checkStoreOptions = <Options extends object>(
  store: string,
  options: Options,
  kinds: OptionKinds<Partial<Options>>,
  where: readonly (keyof Options & string)[],
): void => {
  checkOptions<Partial<Options>>(store, options, kinds);
  // An unset environment variable is rejected by the first call, so that a server can be built without it.
  if (!where.some((name) => name in options))
    throw new ConfigurationError(`${store}: ${where.join(" or ")} is missing; it says where the store is`);
};

/** @throws ConfigurationError for a lock timeout that a timer cannot measure */
export const checkBusyTimeout = (store: string, busyTimeoutMs: number): void => {
  if (!(busyTimeoutMs >= 0 && busyTimeoutMs <= 2 ** 31 - 1))
    throw new ConfigurationError(
      `${store}: busyTimeoutMs is ${busyTimeoutMs}; give milliseconds, from 0 to ${2 ** 31 - 1}`,
    );
};

/** @throws ConfigurationError for a value that is not one of the allowed words */
export const checkWord = (option: string, value: string, words: readonly string[]): void => {
  if (!words.includes(value))
    throw new ConfigurationError(
      `${option} is ${JSON.stringify(value)}; give ${words.map((word) => `"${word}"`).join(" or ")}`,
    );
};
