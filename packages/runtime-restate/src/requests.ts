import { decodeEntry } from "@colloquy/machine/journal";
import { serde, type Serde } from "@restatedev/restate-sdk";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import type { ThreadHandlers } from "./handlers.ts";

type Called = Exclude<keyof ThreadHandlers, "perform">;

/**
 * Returns the readers of the handlers' requests. Anyone who reaches Restate's ingress may send anything, and a handler that
 * throws is retried for ever while it holds the key of its thread. So the readers refuse invalid requests before that.
 */
export const requests = (): { readonly [Name in Called]: Serde<Parameters<ThreadHandlers[Name]>[1]> } => {
  const mail = z.looseObject({
    // The machine checks the rest.
    event: z.looseObject({ type: z.string() }),
    recovered: z.literal(true).optional(),
    shown: z.looseObject({ effectId: z.string(), reply: z.looseObject({}).nullable() }).optional(),
    streamed: z.literal(true).optional(),
    isSent: z.literal(true).optional(),
  });
  const lease = z.looseObject({ owner: z.string(), token: z.int() });
  const ttlMs = z.int().min(0).max(longestLeaseMs);
  const append = z.looseObject({ lease, expectedSeq: z.int().min(-1), entries: z.array(z.unknown()) });
  const rewrite = z.looseObject({ lease, entries: z.array(z.unknown()) });
  return {
    tell: requestOf(mail),
    cut: requestOf(z.looseObject({ mail, effectId: z.string() })),
    journal: requestOf(z.int().min(0)),
    lease: requestOf(z.looseObject({ owner: z.string(), ttlMs, lease: lease.optional() })),
    release: requestOf(lease),
    remove: requestOf(lease.nullable()),
    append: requestOf(append, ({ entries, expectedSeq }) => checkEntries(entries, expectedSeq + 1)),
    rewrite: requestOf(rewrite, ({ entries }) => checkEntries(entries, null)),
  };
};

/** Far longer than any host asks for, so that no forgotten lease blocks a thread for good. */
const longestLeaseMs = 600_000;

/** Reads JSON of a schema, and returns it as it was sent. Errors quote nothing of it. */
const requestOf = <Request, Read>(schema: z.ZodType<Read>, check: (read: Read) => void = () => {}): Serde<Request> => ({
  contentType: "application/json",
  serialize: (request) => serde.json.serialize(request),
  deserialize: (data) => {
    const request = requestIn(data);
    const read = schema.safeParse(request);
    if (!read.success) {
      const [{ path, message }] = read.error.issues as [z.core.$ZodIssue];
      throw new TypeError(path.length === 0 ? message : `${message}, at "${path.join(".")}"`);
    }
    check(read.data);
    // The schema has the request's type, as the tests of all handlers show.
    return request as Request;
  },
});

const requestIn = (data: Uint8Array): unknown => {
  try {
    return data.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(data));
  } catch {
    throw new TypeError("it is not JSON");
  }
};

/** @param first the seq of the first entry; null for entries that replace others */
const checkEntries = (entries: readonly unknown[], first: number | null): void => {
  for (const [index, entry] of entries.entries()) {
    const seq = first === null ? seqOf(entry) : first + index;
    const decoded = decodeEntry(entry, seq);
    if (Either.isLeft(decoded)) throw new TypeError(`entry ${seq} can't be read, at "${decoded.left.path}"`);
    if (decoded.right.seq !== seq) throw new TypeError(`entry ${decoded.right.seq} stands where ${seq} should`);
  }
};

const seqOf = (entry: unknown): number => {
  const { success, data } = z.looseObject({ seq: z.int().min(0) }).safeParse(entry);
  if (!success) throw new TypeError("an entry has a seq");
  return data.seq;
};
