// Next calls this once, when the server starts; `next build` does not.
export const register = async (): Promise<void> => {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { host } = await import("./host");
  host.start(); // continues in the background the turns that the last process left open
};
