import type { Json } from "@colloquy/machine";
import { WrittenMessages } from "./written-messages.ts";

/** The body of a request. What of it is written already is sent as it is. */
export interface RequestBody {
  readonly [parameter: string]: Json | WrittenMessages | undefined;
}

/** A body as `JSON.stringify` writes it. */
export const writtenBody = (body: RequestBody): string => {
  const members = Object.entries(body).flatMap(([name, value]) =>
    value === undefined
      ? []
      : `${JSON.stringify(name)}:${value instanceof WrittenMessages ? value.json : JSON.stringify(value)}`,
  );
  return `{${members.join(",")}}`;
};
