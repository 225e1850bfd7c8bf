import type { Json, JsonObject } from "@colloquy/machine";
import fc from "fast-check";
import { nameArbitrary, textArbitrary } from "./text.ts";

/** JavaScript does not preserve a member called `__proto__`; the codec refuses it. */
const memberName = nameArbitrary.filter((name) => name !== "__proto__");

const { json } = fc.letrec<{ json: Json; list: readonly Json[]; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: fc.oneof(textArbitrary, fc.integer(), fc.boolean(), fc.constant(null)) },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) },
    { weight: 1, arbitrary: tie("list") },
    { weight: 1, arbitrary: tie("object") },
  ),
  list: fc.array(tie("json"), { maxLength: 3 }),
  object: objectOf(tie("json")),
}));

/** Any JSON value. Never -0, which is 0 in JSON. */
export const jsonArbitrary: fc.Arbitrary<Json> = json;

/** Any JSON object with a few members; some of their names have a meaning in JavaScript. */
export const jsonObjectArbitrary: fc.Arbitrary<JsonObject> = objectOf(json);

function objectOf(value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(memberName, value, { maxKeys: 3, noNullPrototype: true });
}
