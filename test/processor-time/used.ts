import { readFileSync } from "node:fs";
import { cpuUsage, platform } from "node:process";

/** Seconds of the processor that this process has used, and the children that it has seen end. */
export const secondsUsed = (): number => {
  const { user, system } = cpuUsage();
  return (user + system) / 1e6 + secondsOfChildren();
};

/** Node does not say it. Elsewhere than on Linux what children use is not counted. */
const secondsOfChildren = (): number => {
  if (platform !== "linux") return 0;
  const text = readFileSync("/proc/self/stat", "utf8");
  // The name of the program comes second, in brackets, and may hold anything; the two are fields 16 and 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / ticksASecond;
};

const ticksASecond = 100;
