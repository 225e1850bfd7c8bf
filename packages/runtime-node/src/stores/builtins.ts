/**
 * The file system of Node. Importing `node:fs` as a module reads its `promises`, which load streams and `readline`: that
 * took a third of the time of importing this package, beyond that of the host.
 */
export const fs: typeof import("node:fs") = process.getBuiltinModule("node:fs");

/** Returns the SQLite of Node, which is loaded with the first store that needs it. */
export const sqlite = (): typeof import("node:sqlite") => process.getBuiltinModule("node:sqlite");
