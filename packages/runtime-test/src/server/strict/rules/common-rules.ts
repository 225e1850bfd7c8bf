import { type Fields, firstOf, illFormedText, isFields, objectsIn, parsedJson, textOf, shown } from "./json.ts";
import { callsOf, eachCall, eachMessage, messagesOf, type Refusal, type Rule } from "./rule.ts";

/** Rules that all families have. */
export const everywhere: readonly Rule[] = [
  {
    name: "well-formed text",
    source:
      "https://github.com/nlohmann/json (parse_error.101), https://docs.python.org/3/library/codecs.html (strict)",
    refuse: (request) => {
      const text = illFormedText(request);
      return text === null
        ? null
        : { message: `'utf-8' codec can't encode character in ${JSON.stringify(text)}: surrogates not allowed` };
    },
  },
  {
    name: "some messages",
    source: "https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages",
    refuse: (request) =>
      messagesOf(request).length > 0
        ? null
        : {
            message:
              "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param: "messages",
            code: "empty_array",
          },
  },
];

/** Arguments in the history must be a JSON object. */
export const argumentsAreObjects = (source: string, words: (at: string, written: string) => Refusal): Rule =>
  eachCall("arguments of calls", source, ({ arguments: written, at }) =>
    isFields(parsedJson(written)) ? null : words(at, typeof written === "string" ? written : JSON.stringify(written)),
  );

/** Ids of calls must match a pattern. */
export const idsMatch = (source: string, pattern: RegExp, words: (id: string, at: string) => Refusal): Rule =>
  eachMessage("ids of calls", source, (message, index) => {
    const ids = [
      ...callsOf(message, index).map(({ id, at }) => ({ id, at: `${at}.id` })),
      ...(message["role"] === "tool" ? [{ id: message["tool_call_id"], at: `messages[${index}].tool_call_id` }] : []),
    ];
    return firstOf(ids, ({ id, at }) => (typeof id === "string" && pattern.test(id) ? null : words(shown(id), at)));
  });

/** Ids of calls must be different, in the whole request or within one message. */
export const idsDiffer = (
  source: string,
  within: "request" | "message",
  words: (id: string, index: number) => Refusal,
): Rule => ({
  name: "ids of calls differ",
  source,
  refuse: (request) => {
    let seen = new Set<unknown>();
    return firstOf(messagesOf(request), (message, index) => {
      if (within === "message") seen = new Set();
      return firstOf(callsOf(message, index), ({ id }) => {
        if (seen.has(id)) return words(shown(id), index);
        seen.add(id);
        return null;
      });
    });
  },
});

/** Each call must have one result right after its message, and each result a call. */
export const pairs = (
  source: string,
  words: {
    readonly orphan: (id: string, index: number) => Refusal;
    readonly unanswered: (ids: readonly string[], index: number) => Refusal;
  },
): Rule => ({
  name: "calls and results",
  source,
  refuse: (request) => {
    let open: readonly unknown[] = [];
    let askedAt = 0;
    const unanswered = (): Refusal | null => (open.length === 0 ? null : words.unanswered(open.map(shown), askedAt));
    const found = firstOf(messagesOf(request), (message, index) => {
      if (message["role"] === "tool") {
        const place = open.indexOf(message["tool_call_id"]);
        if (place < 0) return words.orphan(shown(message["tool_call_id"]), index);
        open = open.toSpliced(place, 1);
        return null;
      }
      const problem = unanswered();
      if (problem !== null) return problem;
      open = callsOf(message, index).map(({ id }) => id);
      askedAt = index;
      return null;
    });
    return found ?? unanswered();
  },
});

/** Names of tools must match a pattern, where they are declared and in the history. */
export const toolNamesMatch = (
  source: string,
  pattern: RegExp,
  words: (name: string, at: string) => Refusal,
): readonly Rule[] => [
  eachCall("names in the history", source, ({ name, at }) =>
    pattern.test(textOf(name)) ? null : words(shown(name), `${at}.function.name`),
  ),
  {
    name: "names of tools",
    source,
    refuse: (request) =>
      firstOf(toolsIn(request), ({ name, at }) =>
        name === undefined || pattern.test(textOf(name)) ? null : words(shown(name), `${at}.name`),
      ),
  },
];

/** Keys of properties must match a pattern, wherever they are in the schema of a tool. */
export const propertyKeysMatch = (source: string, pattern: RegExp, words: (index: number) => Refusal): Rule => ({
  name: "keys of properties",
  source,
  refuse: (request) =>
    firstOf(toolsIn(request), ({ schema }, index) =>
      keysIn(schema).every((key) => pattern.test(key)) ? null : words(index),
    ),
});

const keysIn = (schema: unknown): readonly string[] => {
  if (Array.isArray(schema)) return schema.flatMap(keysIn);
  if (!isFields(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]): readonly string[] => {
    if (["const", "default", "enum", "examples"].includes(keyword)) return [];
    if (keyword !== "properties" || !isFields(value)) return keysIn(value);
    return [...Object.keys(value), ...Object.values(value).flatMap(keysIn)];
  });
};

/** A tool that a request declares, in any of the shapes that the APIs have. */
interface DeclaredTool {
  readonly name: unknown;
  readonly schema: unknown;
  readonly at: string;
}

/** Returns the functions among the tools of a request. */
export const toolsIn = (request: Fields): readonly DeclaredTool[] =>
  objectsIn(request["tools"]).flatMap((tool, index): readonly DeclaredTool[] => {
    const called = tool["function"];
    if (isFields(called))
      return [{ name: called["name"], schema: called["parameters"], at: `tools[${index}].function` }];
    return tool["type"] === undefined || tool["type"] === "function" || tool["type"] === "custom"
      ? [{ name: tool["name"], schema: tool["parameters"] ?? tool["input_schema"], at: `tools[${index}]` }]
      : [];
  });

/** Messages may have only the members of their role. Roles that are not listed are refused. */
export const onlyMembers = (
  source: string,
  members: { readonly [role: string]: readonly string[] },
  words: {
    readonly member: (name: string, role: string, index: number) => Refusal;
    readonly role: (role: string, index: number) => Refusal;
  },
): Rule =>
  eachMessage("members of messages", source, (message, index) => {
    const role = textOf(message["role"]);
    const known = Object.hasOwn(members, role) ? members[role] : undefined;
    if (known === undefined) return words.role(role, index);
    const other = Object.keys(message).find((name) => name !== "role" && !known.includes(name));
    return other === undefined ? null : words.member(other, role, index);
  });

/** Schemas of tools as OpenAI checks those that are not strict. */
export const schemasAreObjects = (source: string): Rule => ({
  name: "schemas of tools",
  source,
  refuse: (request) =>
    firstOf(toolsIn(request), ({ name, schema, at }) => {
      const problem = schema === undefined || schema === null ? null : problemOfSchema(schema);
      return problem === null
        ? null
        : {
            message: `Invalid schema for function '${shown(name)}': ${problem}`,
            param: `${at}.parameters`,
            code: "invalid_function_parameters",
          };
    }),
});

const problemOfSchema = (schema: unknown): string | null => {
  if (!isFields(schema)) return `${JSON.stringify(schema)} is not of type 'object'.`;
  if (schema["type"] !== "object")
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${shown(schema["type"])}"'.`;
  const combined = ["oneOf", "anyOf", "allOf", "enum", "not"].find((name) => schema[name] !== undefined);
  if (combined !== undefined)
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  if (!isFields(schema["properties"])) return "In context=(), object schema missing properties.";
  return problemWithin(schema, []);
};

/** A list must say what is in it, wherever it is. */
const problemWithin = (schema: Fields, path: readonly string[]): string | null => {
  if (schema["type"] === "array" && schema["items"] === undefined)
    return `In context=(${path.map((each) => `'${each}'`).join(", ")}), array schema missing items.`;
  const { properties, items } = schema;
  const nested = isFields(properties)
    ? Object.entries(properties).map(([name, member]) => ["properties", name, member] as const)
    : [];
  return (
    firstOf(nested, ([keyword, name, member]) =>
      isFields(member) ? problemWithin(member, [...path, keyword, name]) : null,
    ) ?? (isFields(items) ? problemWithin(items, [...path, "items"]) : null)
  );
};
