import type { JsonObject } from "./json.ts";
import type { Content } from "./message.ts";

/** A system prompt: its text, or a message under `system` or `developer`. */
export type SystemDraft =
  | string
  | {
      readonly role: "system" | "developer";
      readonly content: Content;
      readonly name?: string;
      readonly provider?: JsonObject;
    };
