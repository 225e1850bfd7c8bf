// No live object leaves the machine, and it keeps no object of a caller. All objects of states, entries and effects
// are deeply frozen once, when they are created, and neither copied nor checked when they are read. So a frozen object
// found here is deeply frozen; only an object from a caller may be partly frozen.

/**
 * Deeply freezes an object in place. It must have been created here, without other owners. A frozen object counts as
 * deeply frozen, because it was created here before.
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
    // Objects created here have only own members.
    for (const name in value) {
      const member: unknown = value[name as keyof typeof value];
      if (typeof member === "object" && member !== null) freeze(member);
    }
  }
  Object.freeze(value);
};

/**
 * Returns a list with more elements at its end. If the list is frozen, the result is frozen at once, so that its
 * elements are not checked again. A list may have thousands of elements and grow by one at a time. (`slice`, `with`
 * and `concat` of a frozen list take some forty times as long.)
 */
export const extended = <Element>(list: readonly Element[], added: readonly Element[]): readonly Element[] =>
  frozenAs(list, added, [...list, ...added]);

/** Returns a list without `count` elements from an index on. */
export const without = <Element>(list: readonly Element[], index: number, count: number): readonly Element[] => {
  const copy = [...list];
  copy.splice(index, count);
  return frozenAs(list, [], copy);
};

/** Returns a list with the element at an index replaced. The index must exist. */
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
 * Returns a frozen copy of a caller's plain data, so that later changes by the caller have no effect. Each member is
 * read once. Other objects (a date, an instance of a class) are kept, so that they can be rejected.
 *
 * @param stays tells which objects are not copied; by default those that are not plain data.
 */
export const frozenCopy = <Value>(value: Value, stays: (value: object) => boolean = isNoData): Value =>
  // A copy has the type of its original.
  typeof value === "object" && value !== null ? (copied(value, stays) as Value) : value;

/**
 * Returns a frozen copy that keeps frozen parts, which were created here: those of a state, an entry or a message.
 * Returns the same reference if the whole value is frozen.
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

/**
 * Returns whether an object is plain data and not an instance of a class. Objects of another realm have another
 * prototype, whose own prototype is also null.
 */
export const isPlain = (value: object): boolean => {
  // It returns an object or null.
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
};
