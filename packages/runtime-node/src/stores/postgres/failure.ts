import { StorageError, type StorageProblem } from "@colloquy/host/store";

/** Turns an error of `pg` into one that names the store and a remedy. Other errors are returned unchanged. */
export const postgresFailure = (error: unknown, store: string): unknown => {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const [kind, advice] = problemOf(code, wordsOf(error));
  return new StorageError(kind, `${store}: ${advice}.`, { cause: error });
};

/** Adds the row if the error names it, by the numbers of a thread and an entry. */
const wordsOf = (error: Error): string =>
  "table" in error && error.table === "words" && "detail" in error && typeof error.detail === "string"
    ? `${error.message}: ${error.detail}`
    : error.message;

const problemOf = (code: string | undefined, message: string): readonly [StorageProblem, string] => {
  if (code === undefined && message === poolEnded) return ["closed", "its pool was closed with end(); make another"];
  if (code === undefined)
    return connectionMessages.test(message) ? ["unreachable", gone(message)] : ["failed", message];
  const known = problems[code] ?? problems[code.slice(0, 2)];
  if (known !== undefined) return [known[0], `${known[1]} (${message})`];
  // SQLSTATE codes have five capital letters or digits; other codes are the system's, such as ECONNREFUSED.
  return sqlState.test(code) && !code.startsWith("E") ? ["failed", message] : ["unreachable", gone(message || code)];
};

const gone = (message: string): string =>
  `its server does not answer (${message}); look whether it runs, and try again. Whether the last write arrived is not known`;

const poolEnded = "Cannot use a pool after calling end on the pool";

const sqlState = /^[0-9A-Z]{5}$/;

/** Messages of `pg` without a code when the connection is lost. */
const connectionMessages = /connection|timeout|terminated|not queryable|ended/i;

const down = "its server is not there now; try again. Whether the last write arrived is not known";
const refused = "the server refuses the login; check the user, its password, its rights and the name of the database";

/** Problems by SQLSTATE, or by its first two characters. */
const problems: { readonly [code: string]: readonly [StorageProblem, string] | undefined } = {
  "08": ["unreachable", down],
  "57P01": ["unreachable", down],
  "57P02": ["unreachable", down],
  "57P03": ["unreachable", down],
  "53300": ["unreachable", "its server has no connection left; allow more, or use smaller pools"],
  "53100": ["full", "the disk of its server is full; make room and try again"],
  "58": ["io", "the disk of its server refused to read or write; look at the disk"],
  // The connection was idle in the middle of a migration.
  "25P03": ["unreachable", down],
  "25006": ["read-only", "it may only be read; connect to the primary server, as a user that may write"],
  "42501": [
    "cannot-open",
    "the user has not the rights; grant it CREATE on the database, or all on the schema and what is in it",
  ],
  "28": ["cannot-open", refused],
  "3D": ["cannot-open", refused],
  "3F": ["cannot-open", "its schema is gone; open the store again"],
  "42P01": ["cannot-open", "its tables are gone; open the store again"],
  "42883": ["cannot-open", "its functions are gone; open the store again"],
  "55P03": ["locked", "another client keeps it locked; try again"],
  "57014": ["locked", "the server cancelled it after statement_timeout; try again, or allow more"],
  "40": ["locked", "another client wrote at the same moment; try again"],
  "23505": ["corrupt", "entries were removed, and what is kept beside them was not; delete the thread, or restore it"],
  XX001: ["corrupt", "what is stored is damaged; restore it from a backup"],
  XX002: ["corrupt", "an index is damaged; run REINDEX on the schema"],
};
