import type { Json } from "@colloquy/machine";

/** Parses a text as JSON; returns undefined if it is none. */
export const parsedJson = (text: string): Json | undefined => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
