import { StorageError, type StorageProblem } from "@colloquy/host/store";

/** Converts an error of IndexedDB to one that names the store and the remedy. Returns other errors unchanged. */
export const databaseFailure = (error: unknown, store: string): unknown => {
  const problem = problems[nameOf(error)];
  if (problem === undefined || !(error instanceof Error)) return error;
  const [kind, advice] = problem;
  // Chromium's error of a full disk has no message.
  const said = error.message === "" ? error.name : `${error.name}: ${error.message.replace(/\.$/, "")}`;
  return new StorageError(kind, `${store}: ${advice} (${said}).`, { cause: error });
};

/** Returns the name of an error; errors of this package have other names than those of IndexedDB. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

const again = "the browser's database failed, or was cleared; try again, or else close all tabs of this site first";

/** By their names in the specification, https://w3c.github.io/IndexedDB/#exceptions */
const problems: { readonly [name: string]: readonly [StorageProblem, string] | undefined } = {
  QuotaExceededError: [
    "full",
    "the browser grants this site no more room; delete threads (the store's own `delete` needs no room for a lease)",
  ],
  VersionError: ["newer", "a later version of this page wrote the database; load the page again"],
  NotFoundError: ["not-a-store", "the database was made by something else; choose another name"],
  SecurityError: ["cannot-open", "the browser allows this page no database"],
  NotAllowedError: ["cannot-open", "the browser allows this page no database"],
  UnknownError: ["io", again],
  InvalidStateError: ["io", again],
  AbortError: ["io", again],
  DataError: ["failed", "the database takes no such key"],
  ConstraintError: ["failed", again],
  TransactionInactiveError: ["failed", again],
};
