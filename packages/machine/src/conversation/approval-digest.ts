import { digestOf } from "../thread/digest.ts";
import type { Json } from "../thread/json.ts";

/** A digest of what an approval is about: the tool, its version, and the arguments as validated. */
export const approvalDigest = (name: string, version: string | null, args: Json): string =>
  digestOf({ name, version, arguments: args });
