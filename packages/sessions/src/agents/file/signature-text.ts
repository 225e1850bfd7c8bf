import type { JsonObject } from "@colloquy/machine";

/** A signature that an agent's file states as one text. */
export interface SignatureText {
  readonly inputs: Readonly<Record<string, JsonObject>>;
  readonly outputs: Readonly<Record<string, JsonObject>>;
  /** Each completes a message that ends in "it must be". */
  readonly problems: readonly string[];
}

/**
 * Reads a signature in DSPy's notation, such as `question, tags: list[str] -> answer`. A field without a type is a
 * string.
 */
export const readSignatureText = (text: string): SignatureText => {
  const problems: string[] = [];
  const [inputs = "", outputs, ...more] = splitAt(text, "->");
  if (outputs === undefined || more.length > 0)
    return { inputs: {}, outputs: {}, problems: ["inputs, one arrow and outputs, such as question -> answer"] };
  const fieldsIn = (side: string): Readonly<Record<string, JsonObject>> => {
    const fields = new Map<string, JsonObject>();
    for (const field of splitAt(side, ",")) {
      const [, name, type = "str"] = /^\s*([A-Za-z_]\w*)\s*(?::([^]*))?$/.exec(field) ?? [];
      if (name === undefined) {
        problems.push(`made of fields such as name or name: type (${JSON.stringify(field.trim())} is not one)`);
        continue;
      }
      const schema = schemaOf(type.trim(), 0);
      if (fields.has(name)) problems.push(`made of fields with different names ("${name}" is there twice)`);
      else if (schema === null)
        problems.push(
          `made of types such as ${types} (that of "${name}" is ${JSON.stringify(type.trim())}); write it as { inputs, outputs } for any other`,
        );
      else fields.set(name, schema);
    }
    return Object.fromEntries(fields);
  };
  return { inputs: fieldsIn(inputs), outputs: fieldsIn(outputs), problems };
};

const types = `str, int, float, bool, list[str] or Literal["a", "b"]`;

/** Splits a text at separators outside brackets and quotations. */
const splitAt = (text: string, separator: string): readonly string[] => {
  const parts: string[] = [];
  let [from, depth, quote] = [0, 0, ""];
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === "[") depth++;
    else if (character === "]") depth--;
    else if (depth === 0 && text.startsWith(separator, index)) {
      parts.push(text.slice(from, index));
      from = index + separator.length;
      index = from - 1;
    }
  }
  return [...parts, text.slice(from)];
};

/** Returns the JSON Schema of a type; null if the type is unknown. */
const schemaOf = (type: string, depth: number): JsonObject | null => {
  const plain = plainTypes.get(type);
  if (plain !== undefined) return { type: plain };
  const [, items, values] = /^(?:list\[([^]*)\]|Literal\[([^]*)\])$/.exec(type) ?? [];
  if (items !== undefined && depth < depthMax) {
    const schema = schemaOf(items.trim(), depth + 1);
    return schema === null ? null : { type: "array", items: schema };
  }
  const literals =
    values === undefined ? [] : splitAt(values, ",").map((value) => /^\s*(['"])(.+)\1\s*$/.exec(value)?.[2]);
  const known = literals.filter((literal) => literal !== undefined);
  return known.length === 0 || known.length < literals.length ? null : { type: "string", enum: known };
};

const depthMax = 8;

const plainTypes: ReadonlyMap<string, string> = new Map([
  ...["string", "number", "integer", "boolean"].map((name) => [name, name] as const),
  ["str", "string"],
  ["int", "integer"],
  ["float", "number"],
  ["bool", "boolean"],
]);
