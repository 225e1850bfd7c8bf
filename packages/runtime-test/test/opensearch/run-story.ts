import { requested } from "./request.ts";
import type { SchemaCheck } from "./specification.ts";
import type { Step, Story } from "./story.ts";

/** Plays a story. Returns its problems, one sentence each. Always runs its epilogues. */
export const problemsOfStory = async (story: Story, url: string, check: SchemaCheck): Promise<readonly string[]> => {
  const outputs = new Map<string, unknown>();
  const problems: string[] = [];
  for (const step of [...story.prologues, ...story.chapters]) {
    const found = await problemsOfStep(step, { url, check, outputs });
    problems.push(...found.map((problem) => `${story.file}, ${step.synopsis ?? step.id ?? step.path}: ${problem}`));
    if (found.length > 0) break;
  }
  for (const step of story.epilogues) {
    const found = await problemsOfStep(step, { url, check, outputs });
    problems.push(...found.map((problem) => `${story.file}, afterwards: ${problem}`));
  }
  return problems;
};

interface Run {
  readonly url: string;
  readonly check: SchemaCheck;
  readonly outputs: Map<string, unknown>;
}

const problemsOfStep = async (step: Step, { url, check, outputs }: Run): Promise<readonly string[]> => {
  const body = resolved(step.request?.payload, outputs);
  const response = await requested(url + pathOf(step, outputs), { method: step.method, body });
  const payload = response.body;
  const expected = [step.response?.status ?? step.status ?? [200, 201]].flat();
  const problems = [
    ...(expected.includes(response.status) ? [] : [`status ${response.status}, ${JSON.stringify(payload)}`]),
    ...differences(payload, resolved(step.response?.payload, outputs), "payload"),
    ...check(step.method, step.path, response.status, payload),
  ];
  for (const [name, path] of Object.entries(step.output)) {
    const value = path.split(".").reduce<unknown>(memberOf, { payload });
    if (value === undefined) problems.push(`nothing at ${path}`);
    outputs.set(`${step.id ?? ""}.${name}`, value);
  }
  return problems;
};

const pathOf = ({ path, parameters }: Step, outputs: Run["outputs"]): string => {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, given] of Object.entries(parameters)) {
    const value = String(resolved(given, outputs));
    if (filled.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, value);
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
};

/** Replaces every `${id.name}` in a value by an earlier step's output. */
const resolved = (value: unknown, outputs: Run["outputs"]): unknown => {
  if (typeof value === "string") {
    const whole = /^\$\{([^}]+)\}$/.exec(value)?.[1];
    if (whole !== undefined) return outputs.get(whole);
    return value.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => String(outputs.get(name)));
  }
  if (Array.isArray(value)) return value.map((each) => resolved(each, outputs));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member, outputs)]));
};

/** Compares all items of a list, but only the expected members of an object. */
const differences = (actual: unknown, expected: unknown, at: string): readonly string[] => {
  if (expected === undefined) return [];
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) {
    return actual === expected ? [] : [`${at} is ${JSON.stringify(actual)} in place of ${JSON.stringify(expected)}`];
  }
  const lengths = [actual, expected].map((each) => (Array.isArray(each) ? each.length : -1));
  if (lengths[0] !== lengths[1]) return [`${at} is ${JSON.stringify(actual)}, of another length than expected`];
  return Object.entries(expected).flatMap(([name, member]) =>
    differences(memberOf(actual, name), member, `${at}.${name}`),
  );
};

const memberOf = (value: unknown, name: string): unknown =>
  // Any object can be read by a member's name.
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
