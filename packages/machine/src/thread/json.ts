/** A JSON value. State, events, effects and entries consist of these. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Absent and `undefined` members mean the same. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Returns whether a value is an object and not a list. */
export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns whether a value is a whole number ≥ 0. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
