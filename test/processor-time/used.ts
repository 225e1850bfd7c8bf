import { readFileSync } from "node:fs";
import { cpuUsage, platform } from "node:process";

/** Returns the processor seconds of this process and of its children that have ended. */
export const secondsUsed = (): number => {
  const { user, system } = cpuUsage();
  return (user + system) / 1e6 + secondsOfChildren();
};

/** Reads the children's seconds, which Node does not tell. Returns 0 on other systems than Linux. */
const secondsOfChildren = (): number => {
  if (platform !== "linux") return 0;
  const text = readFileSync("/proc/self/stat", "utf8");
  // The second field is the program's name in brackets, which may hold anything. Fields 16 and 17 are the children's.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / ticksASecond;
};

const ticksASecond = 100;
