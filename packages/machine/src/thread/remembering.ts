/**
 * A function that is called once for each object, for as long as that lives. For objects that never change, as messages and
 * closed turns: what was made of one is true of it ever after.
 */
export const remembering = <Key extends object, Value>(make: (key: Key) => Value): ((key: Key) => Value) => {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const value = make(key);
    known.set(key, value);
    return value;
  };
};
