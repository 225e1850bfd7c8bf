/** A JSON value: all that state, events, effects and entries are made of. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Absent and `undefined` members mean the same. */
export type JsonObject = { readonly [key: string]: Json | undefined };
