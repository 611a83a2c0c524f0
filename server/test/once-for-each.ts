/**
 * Makes something once for each key and gives it to all who ask again: clips, and what is read of them, that several
 * tests only look at.
 */
export function onceForEach<Key extends string | number, Value>(
  make: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const made = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
