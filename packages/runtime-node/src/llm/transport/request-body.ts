import type { Json } from "@colloquy/machine";
import { WrittenMessages } from "./written-messages.ts";

/** The body of a request. What of it is written already is sent as it is. */
export interface RequestBody {
  readonly [parameter: string]: Json | WrittenMessages | undefined;
}

/** What the SDK is to send: the text of a body that is written in part, as `JSON.stringify` writes it; any other body as it is. */
export const sentBody = (
  body: RequestBody,
): { readonly body: string | RequestBody; readonly headers?: { readonly "content-type": "application/json" } } =>
  Object.values(body).some((value) => value instanceof WrittenMessages)
    ? { body: writtenBody(body), headers: { "content-type": "application/json" } }
    : { body };

/** A body as `JSON.stringify` writes it. */
export const writtenBody = (body: RequestBody): string => {
  let members = "";
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const json = value instanceof WrittenMessages ? value.json : JSON.stringify(value);
    // Added and not joined, which would copy what was written before.
    members += `${members === "" ? "" : ","}${JSON.stringify(name)}:`;
    members += json;
  }
  return `{${members}}`;
};
