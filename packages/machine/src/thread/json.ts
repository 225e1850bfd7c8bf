/** A JSON value: all that state, events, effects and entries are made of. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Absent and `undefined` members mean the same. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Whether a value is an object, and no list. */
export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value is a whole number of 0 or more. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
