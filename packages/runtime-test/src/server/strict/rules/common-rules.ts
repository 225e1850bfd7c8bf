import { type Fields, firstOf, illFormedText, isFields, objectsIn, parsedJson, textOf, shown } from "./json.ts";
import { callsOf, eachCall, eachMessage, eachOf, messagesOf, refusal, rule, type Rule, type Verdict } from "./rule.ts";

export const everywhere: readonly Rule[] = [
  rule(
    "well-formed text",
    "https://github.com/nlohmann/json (parse_error.101), https://docs.python.org/3/library/codecs.html (strict)",
    (request) => {
      const text = illFormedText(request);
      return text !== null && `'utf-8' codec can't encode character in ${JSON.stringify(text)}: surrogates not allowed`;
    },
  ),
  rule(
    "some messages",
    "https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages",
    (request) => {
      const message =
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
      return messagesOf(request).length === 0 && refusal(message, "messages", "empty_array");
    },
  ),
];

export const argumentsAreObjects = (source: string, words: (at: string, written: string) => Verdict): Rule =>
  eachCall(
    "arguments of calls",
    source,
    ({ arguments: written, at }) =>
      !isFields(parsedJson(written)) && words(at, typeof written === "string" ? written : JSON.stringify(written)),
  );

export const idsMatch = (source: string, pattern: RegExp, words: (id: string, at: string) => Verdict): Rule =>
  eachMessage("ids of calls", source, (message, index) => {
    const ids = [
      ...callsOf(message, index).map(({ id, at }) => ({ id, at: `${at}.id` })),
      ...(message["role"] === "tool" ? [{ id: message["tool_call_id"], at: `messages[${index}].tool_call_id` }] : []),
    ];
    return firstOf(ids, ({ id, at }) => !(typeof id === "string" && pattern.test(id)) && words(shown(id), at));
  });

/** Ids of calls must be different, in the whole request or within one message. */
export const idsDiffer = (
  source: string,
  within: "request" | "message",
  words: (id: string, index: number) => Verdict,
): Rule =>
  rule("ids of calls differ", source, (request) => {
    let seen = new Set<unknown>();
    return firstOf(messagesOf(request), (message, index) => {
      if (within === "message") seen = new Set();
      return firstOf(callsOf(message, index), ({ id }) => {
        if (seen.has(id)) return words(shown(id), index);
        seen.add(id);
        return null;
      });
    });
  });

/** Each call must have one result right after its message, and each result a call. */
export const pairs = (
  source: string,
  words: {
    readonly orphan: (id: string, index: number) => Verdict;
    readonly unanswered: (ids: readonly string[], index: number) => Verdict;
  },
): Rule =>
  rule("calls and results", source, (request) => {
    let open: readonly unknown[] = [];
    let askedAt = 0;
    const unanswered = (): Verdict => open.length > 0 && words.unanswered(open.map(shown), askedAt);
    const found = firstOf(messagesOf(request), (message, index) => {
      if (message["role"] === "tool") {
        const place = open.indexOf(message["tool_call_id"]);
        if (place < 0) return words.orphan(shown(message["tool_call_id"]), index);
        open = open.toSpliced(place, 1);
        return null;
      }
      const problem = unanswered();
      if (problem !== false) return problem;
      open = callsOf(message, index).map(({ id }) => id);
      askedAt = index;
      return null;
    });
    return found ?? unanswered();
  });

/** Names of tools must match a pattern, where they are declared and in the history. */
export const toolNamesMatch = (
  source: string,
  pattern: RegExp,
  words: (name: string, at: string) => Verdict,
): readonly Rule[] => [
  eachCall(
    "names in the history",
    source,
    ({ name, at }) => !pattern.test(textOf(name)) && words(shown(name), `${at}.function.name`),
  ),
  eachTool(
    "names of tools",
    source,
    ({ name, at }) => name !== undefined && !pattern.test(textOf(name)) && words(shown(name), `${at}.name`),
  ),
];

/** Keys of properties must match a pattern, wherever they are in the schema of a tool. */
export const propertyKeysMatch = (source: string, pattern: RegExp, words: (index: number) => Verdict): Rule =>
  eachTool(
    "keys of properties",
    source,
    ({ schema }, index) => !keysIn(schema).every((key) => pattern.test(key)) && words(index),
  );

const keysIn = (schema: unknown): readonly string[] => {
  if (Array.isArray(schema)) return schema.flatMap(keysIn);
  if (!isFields(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]): readonly string[] => {
    if (["const", "default", "enum", "examples"].includes(keyword)) return [];
    if (keyword !== "properties" || !isFields(value)) return keysIn(value);
    return [...Object.keys(value), ...Object.values(value).flatMap(keysIn)];
  });
};

/** Each schema in the schemas of tools must be one that a server reads; `problemOf` says what is wrong with it. */
export const eachSchema = (
  source: string,
  problemOf: (schema: Fields, at: string) => string | null | false,
  words: (problem: string) => Verdict,
): Rule =>
  eachTool("schemas in schemas", source, ({ schema }) => {
    const problem = problemAt(schema, "root", problemOf);
    return problem !== null && words(problem);
  });

const problemAt = (
  schema: unknown,
  at: string,
  problemOf: (schema: Fields, at: string) => string | null | false,
): string | null => {
  if (!isFields(schema)) return null;
  const { properties, items, anyOf, oneOf } = schema;
  const inside = [
    ...Object.entries(isFields(properties) ? properties : {}).map(
      ([name, each]) => [`${at}.properties.${name}`, each] as const,
    ),
    [`${at}.items`, items] as const,
    ...[...objectsIn(anyOf), ...objectsIn(oneOf)].map((each, index) => [`${at}.anyOf.${index}`, each] as const),
  ];
  return problemOf(schema, at) || firstOf(inside, ([place, each]) => problemAt(each, place, problemOf));
};

/** A tool that a request declares, in any of the shapes that the APIs have. */
interface DeclaredTool {
  readonly name: unknown;
  readonly schema: unknown;
  readonly at: string;
}

export const toolsIn = (request: Fields): readonly DeclaredTool[] =>
  objectsIn(request["tools"]).flatMap((tool, index): readonly DeclaredTool[] => {
    const called = tool["function"];
    if (isFields(called))
      return [{ name: called["name"], schema: called["parameters"], at: `tools[${index}].function` }];
    return [undefined, "function", "custom"].some((type) => type === tool["type"])
      ? [{ name: tool["name"], schema: tool["parameters"] ?? tool["input_schema"], at: `tools[${index}]` }]
      : [];
  });

/** Makes a rule about each tool by itself. */
export const eachTool = (name: string, source: string, refuse: (tool: DeclaredTool, index: number) => Verdict): Rule =>
  eachOf(toolsIn, name, source, refuse);

/** Messages may have only the members of their role. Roles that are not listed are refused. */
export const onlyMembers = (
  source: string,
  members: { readonly [role: string]: readonly string[] },
  words: {
    readonly member: (name: string, role: string, index: number) => Verdict;
    readonly role: (role: string, index: number) => Verdict;
  },
): Rule =>
  eachMessage("members of messages", source, (message, index) => {
    const role = textOf(message["role"]);
    const known = Object.hasOwn(members, role) ? members[role] : undefined;
    if (known === undefined) return words.role(role, index);
    const other = Object.keys(message).find((name) => name !== "role" && !known.includes(name));
    return other !== undefined && words.member(other, role, index);
  });

/** Schemas of tools as OpenAI checks those that are not strict. */
export const schemasAreObjects = (source: string): Rule =>
  eachTool("schemas of tools", source, ({ name, schema, at }) => {
    const problem = schema === undefined || schema === null ? null : problemOfSchema(schema);
    const message = `Invalid schema for function '${shown(name)}': ${problem}`;
    return problem !== null && refusal(message, `${at}.parameters`, "invalid_function_parameters");
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
