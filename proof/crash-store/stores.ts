import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Store } from "@colloquy/host";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";

/** The stores that can be killed, by the name that the command knows. */
export const storeKinds = ["sqlite", "files"] as const;

export type StoreKind = (typeof storeKinds)[number];

/** Opens the store that a folder holds. */
export const openStore = (kind: StoreKind, folder: string, synchronous: "NORMAL" | "FULL"): Store =>
  kind === "sqlite"
    ? sqliteStore({ path: databaseIn(folder), synchronous })
    : filesStore({ folder: join(folder, "threads"), synchronous });

/** What the store's own file says is wrong with it; nothing where a store has no such check. */
export const damageIn = (kind: StoreKind, folder: string): readonly string[] => {
  if (kind !== "sqlite") return [];
  const database = new DatabaseSync(databaseIn(folder));
  const found = database.prepare("PRAGMA integrity_check").all();
  database.close();
  return found.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
};

const databaseIn = (folder: string): string => join(folder, "store.db");
