/**
 * Returns a function that computes a value once for each object and keeps it as long as the object. Use it only for
 * objects that never change, such as messages and closed turns.
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
