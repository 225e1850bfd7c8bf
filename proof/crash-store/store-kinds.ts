/** The stores that can be killed, by the name that the command knows. */
export const storeKinds = ["sqlite", "files"] as const;

export type StoreKind = (typeof storeKinds)[number];

export const isStoreKind = (name: string): name is StoreKind => storeKinds.some((kind) => kind === name);
