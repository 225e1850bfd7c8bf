/**
 * Writes into everything that is reachable from the visited values, in every way that JavaScript has. Members are
 * assigned, added, deleted and redefined; lists are pushed to, spliced and emptied; prototypes are exchanged. A refused
 * write throws a `TypeError`, which is caught here. Each object is visited once, however often it is passed.
 */
export class Scribbler {
  readonly #visited = new WeakSet<object>();

  /** @returns the number of objects that could be written to and were not visited before */
  visit(value: unknown): number {
    if (!isData(value) || this.#visited.has(value)) return 0;
    this.#visited.add(value);
    // Members first, because they may be unreachable afterwards.
    let written = 0;
    for (const member of membersOf(value)) written += this.visit(member);
    // JavaScript refuses every write to a frozen object.
    if (Object.isFrozen(value)) return written;
    for (const write of Array.isArray(value) ? listWrites : objectWrites) attempt(write, value);
    return written + 1;
  }
}

/** Returns whether to look into a value; functions and platform objects (signals, maps, dates) are skipped. */
const isData = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  return !/^\[object (?!Object\])/.test(Object.prototype.toString.call(value)) && !(value instanceof Error);
};

/** Returns an object's own members, and the values of its getters. */
const membersOf = (value: object): readonly unknown[] => {
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) return Object.values(value);
  const names = new Set<PropertyKey>(Reflect.ownKeys(value));
  for (
    let prototype = prototypeOf(value);
    prototype !== null && prototype !== Object.prototype;
    prototype = prototypeOf(prototype)
  ) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if ("get" in descriptor) names.add(name);
  }
  return [...names].map((name) => {
    try {
      return Reflect.get(value, name) as unknown;
    } catch {
      // A getter may throw, as those of snapshots do.
      return undefined;
    }
  });
};

const prototypeOf = (value: object): object | null => Object.getPrototypeOf(value) as object | null;

type Write = (value: object) => void;

const attempt = (write: Write, value: object): void => {
  try {
    write(value);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
  }
};

const mark = "scribbled";

// The casts are deliberate: the values are read-only.
const objectWrites: readonly Write[] = [
  (value) => {
    for (const name of Object.keys(value)) (value as { [name: string]: unknown })[name] = mark;
  },
  (value) => void ((value as { [name: string]: unknown })[mark] = true),
  (value) => void Object.defineProperty(value, "id", { get: () => mark, enumerable: true, configurable: true }),
  (value) => {
    for (const name of Object.keys(value)) delete (value as { [name: string]: unknown })[name];
  },
  (value) => void Object.setPrototypeOf(value, null),
];

const listWrites: readonly Write[] = [
  (value) => void (value as unknown[]).push({ type: "text", text: mark }),
  (value) => void (value as unknown[]).reverse(),
  (value) => void (value as unknown[]).fill(mark),
  (value) => void (value as unknown[]).splice(0, 1),
  (value) => void Object.defineProperty(value, 0, { value: mark, configurable: true, writable: true }),
  (value) => void ((value as unknown[]).length = 0),
];
