import type { Clock, Store } from "@colloquy/host";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";

/** Opens a store of a kind, "files" or "sqlite", at a place. */
export const storeAt = (kind: string, place: string, options: { readonly clock?: Pick<Clock, "now"> } = {}): Store =>
  kind === "files" ? filesStore({ folder: place, ...options }) : sqliteStore({ path: place, ...options });
