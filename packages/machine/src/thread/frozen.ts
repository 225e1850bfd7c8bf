// Nothing that leaves the machine is a live part of it, and nothing that comes in stays its caller's. All that a state,
// an entry or an effect holds is frozen through and through, once, when it is made: nothing is copied or checked when it is
// looked at. So what is found frozen here is frozen through and through; only what a caller hands in may be so in part.

/**
 * What was made here, and is not held elsewhere, frozen in place through and through. What is frozen already is taken to be so
 * all through: it was made here before.
 */
export const frozen = <Value>(value: Value): Value => {
  if (typeof value === "object" && value !== null) freeze(value);
  return value;
};

const freeze = (value: object): void => {
  if (Object.isFrozen(value)) return;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    for (let index = 0; index < list.length; index++) {
      const member = list[index];
      if (typeof member === "object" && member !== null) freeze(member);
    }
  } else {
    // Members of an object that was made here are its own.
    for (const name in value) {
      const member: unknown = value[name as keyof typeof value];
      if (typeof member === "object" && member !== null) freeze(member);
    }
  }
  Object.freeze(value);
};

/**
 * A list with more at its end. Of one that is frozen it is frozen at once, so that its elements need no look
 * again: a list may have thousands, and grow by one at a time. (`slice`, `with` and `concat` of a frozen list take some
 * forty times as long as this.)
 */
export const extended = <Element>(list: readonly Element[], added: readonly Element[]): readonly Element[] =>
  frozenAs(list, added, [...list, ...added]);

/** The same without so many from an index on. */
export const without = <Element>(list: readonly Element[], index: number, count: number): readonly Element[] => {
  const copy = [...list];
  copy.splice(index, count);
  return frozenAs(list, [], copy);
};

/** The same with another element at an index, which it has. */
export const replaced = <Element>(list: readonly Element[], index: number, element: Element): readonly Element[] => {
  const copy = [...list];
  copy[index] = element;
  return frozenAs(list, [element], copy);
};

const frozenAs = <Element>(
  list: readonly Element[],
  added: readonly Element[],
  copy: readonly Element[],
): readonly Element[] => {
  if (!Object.isFrozen(list)) return copy;
  for (const element of added) frozen(element);
  return Object.freeze(copy);
};

/**
 * A frozen copy of plain data that the caller holds: whatever is changed afterwards, frozen or not, changes nothing here.
 * Each member is read once. What is no plain data (a date, an instance of a class) stays as it is, to be refused.
 *
 * @param stays what is not copied, where that is something else.
 */
export const frozenCopy = <Value>(value: Value, stays: (value: object) => boolean = isNoData): Value =>
  // A copy has the type of what it copies.
  typeof value === "object" && value !== null ? (copied(value, stays) as Value) : value;

/**
 * The same, but that parts which are frozen are kept: those of a state, an entry or a message that was made here. The same
 * reference where all of it is.
 */
export const owned = <Value>(value: Value): Value => frozenCopy(value, isOwned);

const isOwned = (value: object): boolean => Object.isFrozen(value) || isNoData(value);

const isNoData = (value: object): boolean => !Array.isArray(value) && !isPlain(value);

const copied = (value: object, stays: (value: object) => boolean): object => {
  if (stays(value)) return value;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const copies: unknown[] = [];
    for (let index = 0; index < list.length; index++) {
      const member = list[index];
      copies.push(typeof member === "object" && member !== null ? copied(member, stays) : member);
    }
    return Object.freeze(copies);
  }
  const copy: { [name: string]: unknown } = { ...value };
  for (const name in copy) {
    const member = copy[name];
    if (typeof member === "object" && member !== null) copy[name] = copied(member, stays);
  }
  return Object.freeze(copy);
};

/** Whether an object is no instance of a class. Objects of another realm have another prototype, whose own prototype is null as well. */
export const isPlain = (value: object): boolean => {
  // What it returns is an object or null.
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
};
