import { DatabaseSync } from "node:sqlite";

import { databaseIn, type FolderPlace } from "../kit/places.ts";

/** The stores that can be killed, by the name that the command knows. */
export const storeKinds = ["sqlite", "files"] as const;

export type StoreKind = (typeof storeKinds)[number];

/** Returns the problems that the store's own file check finds; none if the store has no such check. */
export const damageIn = (place: FolderPlace): readonly string[] => {
  if (place.type !== "sqlite") return [];
  const database = new DatabaseSync(databaseIn(place));
  const found = database.prepare("PRAGMA integrity_check").all();
  database.close();
  return found.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
};
