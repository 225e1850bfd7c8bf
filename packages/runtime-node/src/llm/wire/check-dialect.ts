import { checkOptions, checkValue, kinds } from "@colloquy/host/store";
import { isObject } from "../json/loose-json.ts";
import { dialects } from "./dialects.ts";

/** Checks the option `dialect` of a handler, for callers in JavaScript. @throws ConfigurationError */
export const checkDialect = (handler: string, given: unknown): void => {
  if (given === undefined) return;
  if (isObject(given)) return checkOptions<object>(`dialect of ${handler}`, given, kindsOfDialect);
  checkValue(`dialect of ${handler}`, given, kinds.oneOf(...Object.keys(dialects)));
};

const pattern = kinds.word("the source of a regular expression", (value) => {
  try {
    return new RegExp(String(value), "u").source !== "" && typeof value === "string";
  } catch {
    return false;
  }
});

const orNull = { ...pattern, fits: (value: unknown): boolean => value === null || pattern.fits(value) };

const kindsOfDialect = {
  ...Object.fromEntries(Object.keys(dialects["common"] ?? {}).map((member) => [member, kinds.anything])),
  callIds: pattern,
  toolNames: pattern,
  messageNames: orNull,
  propertyKeys: orNull,
};
