/**
 * Writes into all that can be reached from what it visits, in each way that JavaScript knows: members are assigned, added,
 * deleted and defined anew, lists are pushed to, spliced and emptied, prototypes are exchanged. What refuses throws a
 * `TypeError`, as it does for anybody; that is swallowed here, and the next thing is tried. Remembers where it was: what
 * leaves again and again is written into once.
 */
export class Scribbler {
  readonly #visited = new WeakSet<object>();

  /** @returns how many objects could be written to: 0 where all that was reached, and not visited before, is immutable. */
  visit(value: unknown): number {
    if (!isData(value) || this.#visited.has(value)) return 0;
    this.#visited.add(value);
    // First what lies below, since it may be out of reach afterwards.
    let written = 0;
    for (const member of membersOf(value)) written += this.visit(member);
    // By the language nothing goes through there.
    if (Object.isFrozen(value)) return written;
    for (const write of Array.isArray(value) ? listWrites : objectWrites) attempt(write, value);
    return written + 1;
  }
}

/** Functions, and what belongs to the platform (signals, maps, dates), are not looked into. */
const isData = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  return !/^\[object (?!Object\])/.test(Object.prototype.toString.call(value)) && !(value instanceof Error);
};

/** Those of its own, and those that it gives by getters. */
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

// The casts are the fault: what is given is read-only.
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
