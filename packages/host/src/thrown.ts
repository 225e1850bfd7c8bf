/** What a person reads of anything that was thrown, error or not. Total: even a message may throw. */
export const messageOf = (thrown: unknown): string => {
  try {
    if (typeof thrown === "string") return thrown;
    if (thrown instanceof Error) return thrown.message === "" ? thrown.name : thrown.message;
    return jsonOf(thrown) ?? String(thrown);
  } catch {
    return "something that can't be put into words";
  }
};

const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
};
