import { StorageError, type StorageProblem } from "@colloquy/host/store";

/** Turns an error of `redis` into one that names the store and a remedy. Other errors are returned unchanged. */
export const redisFailure = (error: unknown, store: string): unknown => {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const [kind, advice] = problemOf(error);
  return new StorageError(kind, `${store}: ${advice} (${wordsOf(error)}).`, { cause: error });
};

const problemOf = (error: Error): readonly [StorageProblem, string] => {
  // Its name is generic, and its class differs between copies of the package.
  if (error.message === "The client is closed") return ["closed", "its client is closed; connect it first"];
  const known = problems[/^[A-Z]+(?= )/.exec(error.message)?.[0] ?? ""];
  if (known !== undefined) return known;
  return isOfConnection(error) ? ["unreachable", gone] : ["failed", "it failed"];
};

const isOfConnection = (error: Error): boolean =>
  ("code" in error && typeof error.code === "string") ||
  error instanceof AggregateError ||
  /socket|connection|offline|timeout|disconnect|unavailable|aborted/i.test(error.message);

const wordsOf = (error: Error): string =>
  error.message === "" && "code" in error ? String(error.code) : error.message.replace(/\.$/, "");

const gone =
  "its server does not answer; look whether it runs, and try again. Whether the last write arrived is not known";
const notNow = "its server can't answer now; try again";
const refused = "the server refuses the login; check the user, its password and its rights";

/** Problems by the first word of Redis' answer. */
const problems: { readonly [word: string]: readonly [StorageProblem, string] | undefined } = {
  OOM: ["full", "its server has no memory left; make room or allow more, and try again"],
  MISCONF: ["io", "its server can't write to its disk, and takes no writes; look at the disk"],
  READONLY: ["read-only", "this is a replica; connect to the primary server"],
  NOAUTH: ["cannot-open", refused],
  WRONGPASS: ["cannot-open", refused],
  NOPERM: ["cannot-open", refused],
  LOADING: ["unreachable", notNow],
  MASTERDOWN: ["unreachable", notNow],
  CLUSTERDOWN: ["unreachable", notNow],
  TRYAGAIN: ["unreachable", notNow],
  NOREPLICAS: ["unreachable", notNow],
  BUSY: ["locked", "a script of another client keeps it busy; try again"],
  WRONGTYPE: ["not-a-store", "a key with its prefix belongs to something else; choose another prefix"],
};
