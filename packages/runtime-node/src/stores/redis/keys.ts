import { threadKeys } from "./scripts.ts";

/** The keys of a thread. What stands between braces decides on which server of a cluster a key lies, and is one for all. */
export const keysOf = (prefix: string, threadId: string): readonly string[] =>
  threadKeys.map((name) => `${prefix}{${braceless(threadId)}}:${name}`);

export const listingKey = (prefix: string): string => `${prefix}threads`;

export const formatKey = (prefix: string): string => `${prefix}format`;

/** Empty braces would not count. A "%" is never alone otherwise. */
const braceless = (threadId: string): string =>
  threadId === "" ? "%" : threadId.replace(/[%{}]/g, (brace) => encodeURIComponent(brace));
