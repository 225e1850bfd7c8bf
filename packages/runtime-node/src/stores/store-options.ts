import { problemOfOptions } from "@colloquy/host/store";

/** @throws RangeError for options of a store that nobody would read, and where the one that says where it is is missing */
export const checkStoreOptions = <Options extends object>(
  store: string,
  options: Options,
  names: { readonly [Name in keyof Required<Options>]: true | "required" },
  where: readonly (keyof Options & string)[],
): void => {
  const problem = problemOfOptions(store, options, names);
  if (problem !== null) throw new RangeError(problem);
  if (where.every((name) => options[name] === undefined || options[name] === null))
    throw new RangeError(`${store}: ${where.join(" or ")} is missing; it says where the store is`);
};

/** @throws RangeError for a time to wait for a lock that no timer keeps */
export const checkBusyTimeout = (store: string, busyTimeoutMs: number): void => {
  if (!(busyTimeoutMs >= 0 && busyTimeoutMs <= 2 ** 31 - 1))
    throw new RangeError(`${store}: busyTimeoutMs is ${busyTimeoutMs}; give milliseconds, from 0 to ${2 ** 31 - 1}`);
};

/** @throws RangeError for what is none of the words that an option may be */
export const checkWord = (option: string, value: string, words: readonly string[]): void => {
  if (!words.includes(value))
    throw new RangeError(
      `${option} is ${JSON.stringify(value)}; give ${words.map((word) => `"${word}"`).join(" or ")}`,
    );
};
