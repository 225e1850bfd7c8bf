import { StorageError } from "./storage-error.ts";

/** The value of a JSON text that a store keeps as `what`. Throws `StorageError`. `store` names the store. */
export const parseStored = (store: string, text: string, what: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StorageError("corrupt", `${store}: ${what} is not JSON; restore it from a backup.`, { cause });
  }
};
